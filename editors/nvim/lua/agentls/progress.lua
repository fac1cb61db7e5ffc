-- What runs, in a corner of the screen.

local options = require('agentls.options')
local ui = require('agentls.ui')

local M = {}

-- How many lines are shown at most, and how long an end is, in milliseconds.
local most, lingering = 8, 4000

---@class agentls.Progress
---@field client integer
---@field title string
---@field message? string
---@field percentage? integer
---@field began number
---@field ended? number

---@type agentls.Progress[]
local runs = {}
---@type table<string, agentls.Progress>
local by_token = {}
local window, buffer, timer

---What has not ended, of one server.
---@return agentls.Progress[]
function M.running(client)
  return vim.tbl_filter(function(run)
    return run.client == client and not run.ended
  end, runs)
end

local function close()
  if window and vim.api.nvim_win_is_valid(window) then
    pcall(vim.api.nvim_win_close, window, true)
  end
  window = nil
end

local function render()
  local now = vim.uv.now()
  runs = vim.tbl_filter(function(run)
    return (not run.ended or now - run.ended < lingering) and vim.lsp.get_client_by_id(run.client) ~= nil
  end, runs)
  if #runs == 0 or not options.current.progress then
    close()
    return
  end
  local tree = package.loaded['agentls.tree']
  local shown = vim.tbl_filter(function(run)
    return not (tree and tree.visible(run.client))
  end, runs)
  if #shown == 0 then
    close()
    return
  end
  local wide = math.max(20, math.min(vim.o.columns - 4, 80))
  local lines, facts, width = {}, {}, 0
  for i, run in ipairs(shown) do
    if i == most and #shown > most then
      lines[i], facts[i] = { { ('   and %d more'):format(#shown - most + 1), 'AgentlsDetail' } }, ''
      break
    end
    local sign, colour = ui.sign(run.ended and (run.message and not run.message:find('^%S+ completed') and 'failed' or 'completed') or 'running')
    facts[i] = ((run.percentage or 0) > 0 and not run.ended and run.percentage .. '% ' or '') .. ui.duration((run.ended or now) - run.began)
    local title = ui.short(run.title, wide - 14)
    local room = wide - vim.fn.strdisplaywidth(title) - #facts[i] - 8
    local message = room > 8 and run.message and ui.short(run.message, room) or ''
    lines[i] = {
      { ' ' .. sign .. ' ', colour }, { title, 'AgentlsTitle' },
      { message ~= '' and '  ' .. message or '', 'AgentlsDetail' },
    }
  end
  local function cells(pieces)
    return vim.fn.strdisplaywidth(table.concat(vim.tbl_map(function(piece)
      return piece[1]
    end, pieces)))
  end
  for i, pieces in ipairs(lines) do
    width = math.max(width, cells(pieces) + #facts[i] + 3)
  end
  for i, pieces in ipairs(lines) do
    table.insert(pieces, { (' '):rep(width - cells(pieces) - #facts[i] - 1) .. facts[i] .. ' ', 'AgentlsDetail' })
  end
  if not buffer or not vim.api.nvim_buf_is_valid(buffer) then
    buffer = vim.api.nvim_create_buf(false, true)
    vim.bo[buffer].bufhidden = 'hide'
  end
  ui.paint(buffer, lines)
  local place = {
    relative = 'editor',
    anchor = 'SE',
    row = vim.o.lines - vim.o.cmdheight - (vim.o.laststatus > 0 and 1 or 0),
    col = vim.o.columns,
    width = math.max(1, math.min(width, vim.o.columns)),
    height = #lines,
    style = 'minimal',
    focusable = false,
    zindex = 40,
  }
  if window and vim.api.nvim_win_is_valid(window) and vim.api.nvim_win_get_tabpage(window) == vim.api.nvim_get_current_tabpage() then
    vim.api.nvim_win_set_config(window, place)
  else
    close()
    place.noautocmd = true
    window = vim.api.nvim_open_win(buffer, false, place)
    vim.wo[window].winhighlight = 'Normal:NormalFloat'
  end
end

local function tick()
  -- Where no window may be opened just now, the next tick tries again.
  pcall(render)
  if #M.all() > 0 then
    vim.cmd.redrawstatus()
  else
    timer:stop()
  end
end

---Everything that is shown.
---@return agentls.Progress[]
function M.all()
  return runs
end

---Takes a progress notification of the server.
---@param client integer
---@param params lsp.ProgressParams
function M.report(client, params)
  local key = client .. ' ' .. tostring(params.token)
  local value = params.value
  if type(value) ~= 'table' then
    return
  end
  local run = by_token[key]
  if not run then
    run = { client = client, title = value.title or 'agent', began = vim.uv.now() }
    by_token[key] = run
    table.insert(runs, run)
  end
  run.message, run.percentage = value.message or run.message, value.percentage or run.percentage
  if value.kind == 'end' then
    run.ended, by_token[key] = vim.uv.now(), nil
  end
  timer = timer or assert(vim.uv.new_timer())
  if not timer:is_active() then
    timer:start(0, 125, vim.schedule_wrap(tick))
  end
end

return M
