-- What a user's configuration calls. See :help agentls.

local M = {}

---Sets options and has the server started for files of every kind. Without it, :Agentls starts the server when it is
---used.
---@param options? agentls.Options
function M.setup(options)
  require('agentls.options').set(options)
  require('agentls.client').enable()
end

---What agentls does, in a few words, for a status line; '' while there is nothing to say.
---@return string
function M.statusline()
  local loaded = package.loaded['agentls.statusline']
  return loaded and loaded.text() or ''
end

return M
