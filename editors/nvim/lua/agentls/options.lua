-- The options of setup().

local M = {}

---@class agentls.Maps
---@field next string To the next hunk.
---@field previous string To the hunk before.
---@field accept string Accept the hunk at the cursor.
---@field reject string Reject it.
---@field accept_file string Accept all hunks of the file.
---@field reject_file string Reject them.

---@class agentls.Options
---@field cmd? string[] The server's command.
---@field filetypes? string[] For which kinds of files the server is started; nil for all.
---@field root_markers? string[] What lies in the root of a workspace.
---@field trusted? boolean Whether the workspace is trusted; nil leaves it to agentls, which asks.
---@field settings? table The server's settings, such as `{ default_model = 'offline/rules' }`.
---@field progress? boolean Show what runs in a corner of the screen.
---@field answers? boolean Show what an agent answered when its run ends.
---@field ascii? boolean Use no icons beyond ASCII.
---@field maps? agentls.Maps The keys of a proposal's review.
---@field generate? fun(params: agentls.GenerateParams, done: fun(result?: agentls.GenerateResult, fault?: string)) A language model that the editor lends to agentls.
local defaults = {
  cmd = { 'agentls', 'serve' },
  filetypes = nil,
  root_markers = { '.agentls', '.git' },
  trusted = nil,
  settings = {},
  progress = true,
  answers = true,
  ascii = false,
  maps = {
    next = ']h',
    previous = '[h',
    accept = 'a',
    reject = 'r',
    accept_file = 'A',
    reject_file = 'R',
  },
}

---@type agentls.Options
M.current = vim.deepcopy(defaults)

function M.set(options)
  M.current = vim.tbl_deep_extend('force', vim.deepcopy(defaults), options or {})
end

return M
