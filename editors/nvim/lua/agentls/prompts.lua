-- Questions of the server to the user: one at a time, and never while the user types.

local async = require('agentls.async')
local ui = require('agentls.ui')

local M = {}

local busy = false
local waiting = {}

-- calm waits until a menu does not get keys that are meant for something else.
local function calm(prompt)
  local told
  while vim.fn.mode() ~= 'n' or vim.fn.getcmdwintype() ~= '' or vim.fn.state('m') ~= '' do
    if not told then
      told = true
      vim.notify('agentls: ' .. prompt .. ' (in normal mode)')
    end
    async.await(function(done)
      local group = vim.api.nvim_create_augroup('agentls.calm', {})
      local function again()
        pcall(vim.api.nvim_del_augroup_by_id, group)
        vim.schedule(done)
      end
      vim.api.nvim_create_autocmd(
        { 'ModeChanged', 'CmdwinLeave', 'SafeState' }, { group = group, once = true, callback = again }
      )
    end)
  end
end

---Has the user choose, inside a coroutine. Questions wait for each other.
---@param items any[]
---@param opts { prompt: string, kind: string, format_item?: fun(item: any): string, detail?: string }
---@param shown? fun(close: fun()) Is given what takes the question back.
---@return any item nil where the user closed it.
function M.choose(items, opts, shown)
  if busy then
    async.await(function(done)
      table.insert(waiting, done)
    end)
  end
  busy = true
  opts.guarded = true
  -- Whatever fails here, the questions that wait must come.
  local ok, item = pcall(function()
    calm(opts.prompt)
    return async.await(function(done)
      local close = ui.select(items, opts, vim.schedule_wrap(done))
      if shown then
        shown(close)
      end
    end)
  end)
  busy = false
  local next_one = table.remove(waiting, 1)
  if next_one then
    busy = true
    vim.schedule(next_one)
  end
  if not ok then
    error(item, 0)
  end
  return item
end

---Answers window/showMessageRequest, such as the question whether to trust a folder.
---@param params lsp.ShowMessageRequestParams
function M.handle(params)
  if not params.actions or #params.actions == 0 then
    vim.notify(params.message)
    return vim.NIL
  end
  return M.choose(params.actions, {
    prompt = 'agentls',
    kind = 'agentls.message',
    detail = (params.message:gsub('^agentls: ', '')),
    format_item = function(action)
      return action.title
    end,
  }) or vim.NIL
end

return M
