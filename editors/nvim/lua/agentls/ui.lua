-- How things look: icons, colours, lines of several colours, and a menu in a window of its own.

local options = require('agentls.options')

local M = {}

for name, link in pairs({
  Running = 'DiagnosticInfo',
  Waiting = 'DiagnosticWarn',
  Completed = 'DiagnosticOk',
  Failed = 'DiagnosticError',
  Cancelled = 'NonText',
  Title = 'Title',
  Agent = 'Identifier',
  Detail = 'Comment',
  Badge = 'DiagnosticWarn',
  Session = 'Directory',
  Key = 'Special',
}) do
  vim.api.nvim_set_hl(0, 'Agentls' .. name, { link = link, default = true })
end

local frames = { '⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏' }

---The turning sign of what runs.
function M.spinner()
  if options.current.ascii then
    return ({ '|', '/', '-', '\\' })[math.floor(vim.uv.hrtime() / 125e6) % 4 + 1]
  end
  return frames[math.floor(vim.uv.hrtime() / 125e6) % #frames + 1]
end

local signs = {
  pending = { '◌', '.', 'Waiting' },
  running = { nil, nil, 'Running' },
  waiting = { '◔', '~', 'Waiting' },
  completed = { '✓', '+', 'Completed' },
  partial = { '⊘', '-', 'Cancelled' },
  failed = { '✗', 'x', 'Failed' },
  timeout = { '⧖', 't', 'Failed' },
  cancelled = { '⊘', '-', 'Cancelled' },
  interrupted = { '⏸', '=', 'Waiting' },
}

---The sign of a status, and its colour.
---@param status agentls.Status
---@return string, string
function M.sign(status)
  local sign = signs[status] or { '?', '?', 'Detail' }
  return sign[options.current.ascii and 2 or 1] or M.spinner(), 'Agentls' .. sign[3]
end

---Picks the icon, or what stands for it in ASCII.
function M.icon(icon, ascii)
  return options.current.ascii and ascii or icon
end

---A duration of milliseconds, such as "1:05".
---@param ms number
function M.duration(ms)
  local seconds = math.max(0, math.floor(ms / 1000))
  if seconds >= 3600 then
    return ('%d:%02d:%02d'):format(math.floor(seconds / 3600), math.floor(seconds / 60) % 60, seconds % 60)
  end
  return ('%d:%02d'):format(math.floor(seconds / 60), seconds % 60)
end

---A number of tokens, such as "1.2k tokens"; nil for none.
---@param usage? agentls.Usage
function M.tokens(usage)
  local count = usage and usage.inputTokens + usage.outputTokens or 0
  if count == 0 then
    return nil
  end
  if count >= 1e6 then
    return ('%.1fM tokens'):format(count / 1e6)
  end
  return count >= 1000 and ('%.1fk tokens'):format(count / 1000) or ('%d tokens'):format(count)
end

---A point in time of the protocol, in milliseconds since 1970.
---@param timestamp agentls.Timestamp
function M.time(timestamp)
  local year, month, day, hour, minute, second, fraction = timestamp:match('^(%d+)-(%d+)-(%d+)T(%d+):(%d+):(%d+)(%.?%d*)')
  if not year then
    return 0
  end
  -- Days since 1970 of the proleptic Gregorian calendar; os.time would take it for local time.
  local y, m = tonumber(year), tonumber(month)
  if m <= 2 then
    y, m = y - 1, m + 12
  end
  local days = 365 * y + math.floor(y / 4) - math.floor(y / 100) + math.floor(y / 400) + math.floor((153 * (m - 3) + 2) / 5) + tonumber(day) - 719469
  return (((days * 24 + hour) * 60 + minute) * 60 + second + (tonumber(fraction) or 0)) * 1000
end

function M.now()
  local seconds, microseconds = vim.uv.gettimeofday()
  return seconds * 1000 + microseconds / 1000
end

---How long ago a time is, in words.
---@param timestamp agentls.Timestamp
function M.ago(timestamp)
  local minutes = math.floor((M.now() - M.time(timestamp)) / 60000)
  if minutes < 1 then
    return 'just now'
  elseif minutes < 60 then
    return minutes .. ' min ago'
  elseif minutes < 48 * 60 then
    return math.floor(minutes / 60) .. ' h ago'
  end
  return math.floor(minutes / 60 / 24) .. ' days ago'
end

---A text of one line, cut to so many cells.
---@param text string
---@param width integer
function M.cut(text, width)
  if vim.fn.strdisplaywidth(text) <= width then
    return text
  end
  while vim.fn.strdisplaywidth(text) > width - 1 do
    text = vim.fn.strcharpart(text, 0, vim.fn.strchars(text) - 1)
  end
  return text .. '…'
end

---A text in one line of at most so many cells.
---@param text string
---@param width integer
function M.short(text, width)
  return M.cut(vim.trim((text:gsub('%s+', ' '))), width)
end

---A buffer that belongs to no file.
---@param name string
---@param client vim.lsp.Client
---@return integer
function M.scratch(name, client)
  local buffer = vim.fn.bufnr('^' .. vim.fn.escape(name, '[]*?{},\\') .. '$')
  if buffer < 0 then
    buffer = vim.api.nvim_create_buf(false, true)
    vim.api.nvim_buf_set_name(buffer, name)
  end
  vim.bo[buffer].buftype, vim.bo[buffer].bufhidden, vim.bo[buffer].swapfile = 'nofile', 'hide', false
  vim.bo[buffer].modifiable = false
  vim.b[buffer].agentls_client = client.id
  return buffer
end

---Replaces the lines of a buffer that nobody types into. What stays the same is not touched, so that marks and folds
---stay.
---@param buffer integer
---@param lines string[]
function M.fill(buffer, lines)
  local old = vim.api.nvim_buf_get_lines(buffer, 0, -1, false)
  local first = 1
  while first <= #old and first <= #lines and old[first] == lines[first] do
    first = first + 1
  end
  local behind = 0
  while behind < #old - first + 1 and behind < #lines - first + 1 and old[#old - behind] == lines[#lines - behind] do
    behind = behind + 1
  end
  if first > #old - behind and first > #lines - behind then
    return
  end
  vim.bo[buffer].modifiable = true
  vim.api.nvim_buf_set_lines(buffer, first - 1, #old - behind, false, vim.list_slice(lines, first, #lines - behind))
  vim.bo[buffer].modifiable, vim.bo[buffer].modified = false, false
end

local colours = vim.api.nvim_create_namespace('agentls.colours')

---Fills a buffer with lines of pieces, each `{ text, colour }`.
---@param buffer integer
---@param lines string[][][]
function M.paint(buffer, lines)
  local texts = {}
  for i, pieces in ipairs(lines) do
    texts[i] = table.concat(vim.tbl_map(function(piece)
      return (piece[1]:gsub('\n', ' '))
    end, pieces))
  end
  M.fill(buffer, texts)
  vim.api.nvim_buf_clear_namespace(buffer, colours, 0, -1)
  for i, pieces in ipairs(lines) do
    local column = 0
    for _, piece in ipairs(pieces) do
      if piece[2] then
        vim.api.nvim_buf_set_extmark(
          buffer, colours, i - 1, column, { end_col = column + #piece[1], hl_group = piece[2] }
        )
      end
      column = column + #piece[1]
    end
  end
end

---Shows a buffer in a window below, or goes to the one that shows it already. What is only read shares a window.
---@param buffer integer
---@param height? integer
---@param reader? boolean
function M.show(buffer, height, reader)
  height = height or math.max(8, math.floor(vim.o.lines / 3))
  local window
  for _, other in ipairs(vim.api.nvim_tabpage_list_wins(0)) do
    local shown = vim.api.nvim_win_get_buf(other)
    if shown == buffer or not window and reader and vim.w[other].agentls_reader and vim.b[shown].agentls_client then
      window = other
    end
  end
  if window then
    vim.api.nvim_set_current_win(window)
    if reader then
      vim.api.nvim_win_set_height(window, math.max(height, vim.api.nvim_win_get_height(window)))
    end
  else
    if not pcall(vim.cmd, 'botright ' .. height .. 'split') then
      -- There is no room for another window here.
      vim.cmd('tab split')
    end
    window = vim.api.nvim_get_current_win()
    vim.w[window].agentls_reader = reader
  end
  vim.api.nvim_win_set_buf(window, buffer)
  for name, value in pairs({
    number = false,
    relativenumber = false,
    signcolumn = 'no',
    foldcolumn = '0',
    wrap = reader or false,
    linebreak = reader or false,
    list = false,
    spell = false,
    winfixheight = true,
    cursorline = not reader,
  }) do
    vim.wo[window][0][name] = value
  end
  return window
end

---Defines the keys of one of our buffers.
---@param buffer integer
---@param keys table<string, { [1]: fun(), [2]: string }>
function M.keys(buffer, keys)
  for key, what in pairs(keys) do
    vim.keymap.set('n', key, what[1], { buffer = buffer, nowait = true, desc = what[2] })
  end
end

---Lets the user choose, by vim.ui.select where it was replaced, else by a menu that does not stop the editor. Where
---what replaced it fails, the user is told, and gets that menu.
---@param items any[]
---@param opts { prompt: string, kind: string, format_item?: fun(item: any): string, detail?: string, guarded?: boolean }
---@param chosen fun(item?: any)
---@return fun() close Takes the menu back, where that can be done; `chosen` is called with nothing.
function M.select(items, opts, chosen)
  local function menu(once)
    return require('agentls.menu').open(items, opts, once)
  end
  -- It may be a table that can be called.
  if type(vim.ui.select) == 'function' and debug.getinfo(vim.ui.select, 'S').source:find('vim/ui.lua', 1, true) then
    return menu(chosen)
  end
  local open = true
  local function once(item)
    if open then
      open = false
      chosen(item)
    end
  end
  local prompt = opts.prompt
  if opts.detail and opts.detail ~= '' then
    prompt = prompt .. '\n' .. opts.detail
  end
  local ok, fault = pcall(
    vim.ui.select, items, { prompt = prompt, kind = opts.kind, format_item = opts.format_item }, once
  )
  if not ok and open then
    vim.notify('agentls: vim.ui.select, which was replaced, fails: ' .. tostring(fault), vim.log.levels.ERROR)
    return menu(once)
  end
  return once
end

return M
