-- Conversations with agents: documents called *.agentls.md, into which the server writes what agents answer.

local async = require('agentls.async')
local client = require('agentls.client')
local compat = require('agentls.compat')
local live = require('agentls.live')
local methods = require('agentls.protocol').methods
local proposals = require('agentls.proposals')

local M = {}

local suffix = '.agentls.md'

---Opens a conversation: a new one, or one that goes on with a run.
---@param run? agentls.RunID
function M.open(run)
  async.go(function()
    client.ask(client.ready(), methods.Conversation, { run = run })
  end)
end

-- here is the conversation at the cursor, inside async.go().
local function here()
  local buffer = vim.api.nvim_get_current_buf()
  if not vim.endswith(vim.api.nvim_buf_get_name(buffer), suffix) then
    async.fail('this buffer is no conversation; :Agentls conversation opens one')
  end
  return buffer, client.ready(buffer)
end

---Sends what is written below the last heading of the conversation.
function M.send()
  async.go(function()
    local buffer, lsp = here()
    client.ask(lsp, methods.SendPrompt, { uri = vim.uri_from_bufnr(buffer) })
    live.subscribe(lsp)
  end)
end

-- prompting is the heading of what the user says.
local prompting = '^## You%s*$'

---The run that answers the prompt at a line, or whose answer is there; of what was not sent yet, the run before. The
---second is what that run was asked.
---@param lines string[]
---@param at integer
---@return agentls.RunID? run, string? prompt
local function answering(lines, at)
  local run, prompt, asked
  for number, line in ipairs(lines) do
    local heading = line:match('^## .*<!%-%- agentls:(%w+) %-%->%s*$')
    if heading then
      if heading ~= run then
        run, prompt = heading, asked
      end
    elseif line:match(prompting) then
      if run and number > at then
        break
      end
      asked = nil
    elseif not asked and vim.trim(line) ~= '' and not vim.startswith(line, '# ') then
      asked = line
    end
  end
  return run, prompt
end

---Goes back to before the prompt at the cursor, or the one that is answered there.
function M.rewind()
  async.go(function()
    local buffer, lsp = here()
    local run, prompt = answering(
      vim.api.nvim_buf_get_lines(buffer, 0, -1, false), vim.api.nvim_win_get_cursor(0)[1]
    )
    if not run then
      async.fail('nothing is answered in this conversation yet')
    end
    proposals.rewind(lsp, { id = run, title = prompt or '' }, vim.uri_from_bufnr(buffer))
  end)
end

-- place picks the window for a document: not one of ours, nor one that floats.
local function place()
  local windows = vim.api.nvim_tabpage_list_wins(0)
  table.insert(windows, 1, vim.fn.win_getid(vim.fn.winnr('#')))
  table.insert(windows, 1, vim.api.nvim_get_current_win())
  for _, window in ipairs(windows) do
    if
      window ~= 0 and vim.api.nvim_win_get_config(window).relative == '' and not vim.wo[window].winfixbuf
      and vim.bo[vim.api.nvim_win_get_buf(window)].buftype == ''
    then
      return window
    end
  end
  vim.cmd('topleft split')
  return vim.api.nvim_get_current_win()
end

---Takes a window/showDocument.
function M.show(params, context)
  if params.external or not vim.endswith(params.uri, suffix) then
    return vim.lsp.handlers['window/showDocument'](nil, params, context)
  end
  local lsp = vim.lsp.get_client_by_id(context.client_id)
  local buffer = vim.uri_to_bufnr(params.uri)
  vim.b[buffer].agentls_root = lsp.config.root_dir
  vim.bo[buffer].buflisted = true
  vim.cmd("normal! m'")
  local window = vim.fn.win_findbuf(buffer)[1] or place()
  vim.api.nvim_set_current_win(window)
  vim.api.nvim_win_set_buf(window, buffer)
  vim.lsp.buf_attach_client(buffer, lsp.id)
  vim.api.nvim_win_set_cursor(window, { vim.api.nvim_buf_line_count(buffer), 0 })
  return { success = true }
end

-- written is what the server has written into a buffer last: the change of the buffer, by its number.
local written = {}

-- part has what follows be undone by itself, but for answers, which come in many pieces.
local function part(buffer)
  vim.api.nvim_buf_call(buffer, function()
    if written[buffer] == vim.b[buffer].changedtick then
      pcall(vim.cmd.undojoin) -- which fails behind an undo
    else
      vim.cmd('let &l:undolevels = &l:undolevels')
    end
  end)
end

-- parted does so for what the user goes on to type.
local function parted(buffer)
  written[buffer] = vim.b[buffer].changedtick
  if buffer == vim.api.nvim_get_current_buf() and vim.api.nvim_get_mode().mode == 'i' then
    -- Ahead of what was typed and is not read yet, which may be the beginning of a mapping.
    vim.api.nvim_feedkeys(vim.keycode('<C-g>u'), 'in', false)
  end
end

-- asking are the windows whose cursor is in the prompt that an edit answers, and not behind it.
local function asking(buffer, edit, encoding)
  local at = edit.range.start
  local lines = vim.api.nvim_buf_get_lines(buffer, 0, at.line + 1, false)
  local behind = compat.byte(lines[#lines] or '', encoding, at.character)
  local first = #lines
  while first > 1 and not lines[first]:match(prompting) do
    first = first - 1
  end
  return vim.tbl_filter(function(window)
    local line, byte = unpack(vim.api.nvim_win_get_cursor(window))
    return line >= first and (line <= at.line or line == at.line + 1 and byte <= behind)
  end, vim.fn.win_findbuf(buffer))
end

---Takes a workspace/applyEdit.
function M.apply(params, context)
  local changes = params.edit.documentChanges or {}
  local change = #changes == 1 and changes[1].edits and changes[1]
  local uri = change and change.textDocument.uri
  local buffer = uri and vim.endswith(uri, suffix) and vim.uri_to_bufnr(uri)
  local apply = vim.lsp.handlers['workspace/applyEdit']
  if not buffer or not vim.api.nvim_buf_is_loaded(buffer) then
    return apply(nil, params, context)
  end
  if compat.version(buffer) > change.textDocument.version then
    -- Neovim would say so in a message, and that it was applied. The server tries again.
    return { applied = false, failureReason = 'the text is newer than the edit' }
  end
  part(buffer)
  -- The cursor goes on to the next prompt, once the one at it is answered.
  local edit = change.edits[1]
  local opens = edit.newText:find('\n## You\n', 1, true)
  local windows = opens and asking(buffer, edit, vim.lsp.get_client_by_id(context.client_id).offset_encoding) or {}
  local result = apply(nil, params, context)
  local last = vim.api.nvim_buf_line_count(buffer)
  for _, window in ipairs(windows) do
    vim.api.nvim_win_set_cursor(window, { last, #vim.api.nvim_buf_get_lines(buffer, last - 1, last, false)[1] })
  end
  parted(buffer)
  return result
end

return M
