-- Lends the server a language model of the editor: the function `generate` of setup().

local async = require('agentls.async')
local options = require('agentls.options')

local M = {}

---Answers agent/model/generate.
---@param params agentls.GenerateParams
function M.handle(params)
  local result, fault = async.await(function(done)
    options.current.generate(params, vim.schedule_wrap(done))
  end)
  if not result then
    error(fault or 'the editor\'s model gave no answer', 0)
  end
  return result
end

return M
