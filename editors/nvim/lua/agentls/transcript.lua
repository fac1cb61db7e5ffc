-- The conversation of a run, in a buffer that follows it.

local async = require('agentls.async')
local client = require('agentls.client')
local live = require('agentls.live')
local methods = require('agentls.protocol').methods
local ui = require('agentls.ui')

local M = {}

---@class agentls.TranscriptView
---@field client integer
---@field buffer integer
---@field run agentls.RunID
---@field messages agentls.TranscriptMessage[]
---@field text string What is being written.
---@field asking boolean
---@field stale boolean
---@type table<agentls.RunID, agentls.TranscriptView>
local views = {}

local function append(lines, text)
  vim.list_extend(lines, vim.split(text, '\n'))
end

-- Lines that begin with this sign are folded.
local bar = '│ '

local function render(view)
  local run = live.run(view.client, view.run)
  local lines = {}
  if run then
    local facts = { run.model, run.status }
    if run.reason and run.reason ~= '' and run.reason ~= run.status then
      table.insert(facts, run.reason)
    end
    table.insert(facts, ui.tokens(run.usage))
    vim.list_extend(lines, { '# ' .. run.agent .. ': ' .. ui.short(run.title, 80), '', table.concat(facts, ' · '), '' })
  end
  for _, message in ipairs(view.messages) do
    if message.role ~= 'tool' then
      local speaker = message.role == 'assistant' and 'Agent' or message.compacted and 'Summary of what was before' or 'Task'
      vim.list_extend(lines, { '## ' .. speaker, '' })
    end
    if message.reasoning and message.reasoning ~= '' then
      for _, line in ipairs(vim.split(message.reasoning, '\n')) do
        table.insert(lines, '> ' .. line)
      end
      table.insert(lines, '')
    end
    if message.text ~= '' then
      append(lines, message.text)
      table.insert(lines, '')
    end
    for _, call in ipairs(message.calls or {}) do
      -- A call whose command failed has done what it was asked for, and is no success.
      local failed = call.status == 'ok' and (call.exitCode or 0) ~= 0
      local sign = call.status and (call.status == 'ok' and not failed and ui.icon('✓', '+') or ui.icon('✗', 'x')) or ui.icon('…', '.')
      local code = failed and (' · exit code %d'):format(call.exitCode) or ''
      local took = call.durationMs and (' · %d ms'):format(call.durationMs) or ''
      table.insert(lines, ('%s **%s** `%s`%s%s'):format(sign, call.tool, ui.short(call.arguments, 100), code, took))
      for _, line in ipairs(vim.split(call.output or '', '\n', { trimempty = true })) do
        table.insert(lines, bar .. line)
      end
    end
    if #(message.calls or {}) > 0 then
      table.insert(lines, '')
    end
  end
  if view.text ~= '' then
    vim.list_extend(lines, { '## Agent', '' })
    append(lines, view.text)
  end
  -- Who reads at the end goes on reading there.
  local last = vim.api.nvim_buf_line_count(view.buffer)
  local windows = vim.tbl_filter(function(window)
    return vim.api.nvim_win_get_cursor(window)[1] == last and last > 1
  end, vim.fn.win_findbuf(view.buffer))
  ui.fill(view.buffer, lines)
  for _, window in ipairs(windows) do
    vim.api.nvim_win_set_cursor(window, { vim.api.nvim_buf_line_count(view.buffer), 0 })
  end
end

-- load brings the messages that are new, and the last ones again, whose calls may have ended since.
local function load(view)
  local lsp = vim.lsp.get_client_by_id(view.client)
  local keep = math.max(0, #view.messages - 2)
  repeat
    local after = view.messages[keep] and view.messages[keep].id
    local page = client.ask(lsp, methods.Transcript, { run = view.run, after = after })
    view.messages = vim.list_extend(vim.list_slice(view.messages, 1, keep), page.messages)
    keep = #view.messages
  until not page.more
end

local function refresh(view)
  view.stale = true
  if view.asking then
    return
  end
  view.asking = true
  async.go(function()
    while view.stale and vim.api.nvim_buf_is_valid(view.buffer) do
      view.stale = false
      local ok, fault = pcall(load, view)
      if not ok then
        view.asking = false
        error(fault, 0)
      end
      render(view)
      async.sleep(100)
    end
    view.asking = false
  end)
end

---The lines that are folded, for 'foldexpr'.
function M.fold(line)
  return vim.startswith(vim.fn.getline(line), bar) and 1 or 0
end

---What a fold shows, for 'foldtext'.
function M.folded()
  local count = vim.v.foldend - vim.v.foldstart + 1
  return bar .. (count == 1 and '1 line' or count .. ' lines')
end

---Shows the transcript of a run; without one, that of the latest root of this window.
---@param run? agentls.RunID
function M.open(run)
  async.go(function()
    local lsp = client.ready()
    local state = live.subscribe(lsp)
    if not run then
      local session = state.sessions[state.current]
      for _, id in ipairs(session and session.order or {}) do
        run = not session.runs[id].parent and id or run
      end
    end
    if not run then
      async.fail('nothing has run yet in this window; :Agentls sessions has earlier runs')
    end
    local view = views[run]
    if not view or not vim.api.nvim_buf_is_valid(view.buffer) then
      view = { client = lsp.id, run = run, messages = {}, text = '', asking = false, stale = false }
      view.buffer = ui.scratch('agentls://transcript/' .. run, lsp)
      views[run] = view
      vim.bo[view.buffer].filetype = 'markdown'
      ui.keys(view.buffer, {
        q = {
          function()
            vim.api.nvim_win_close(0, false)
          end,
          'Close the window',
        },
      })
    end
    load(view)
    local window = ui.show(view.buffer, math.floor(vim.o.lines * 0.5), true)
    for name, value in pairs({
      foldmethod = 'expr',
      foldexpr = "v:lua.require'agentls.transcript'.fold(v:lnum)",
      foldtext = "v:lua.require'agentls.transcript'.folded()",
      foldlevel = 0,
      foldenable = true,
      conceallevel = 2,
      winbar = '%#AgentlsTitle# Transcript%*%#AgentlsDetail#  zR show what the tools said · zM hide it · q close%*',
    }) do
      vim.wo[window][0][name] = value
    end
    render(view)
  end)
end

vim.api.nvim_create_autocmd('User', {
  group = vim.api.nvim_create_augroup('agentls.transcript', {}),
  pattern = 'AgentlsEvent',
  callback = function(args)
    local event = args.data.event
    local view = event and event.run and views[event.run]
    if not view or view.client ~= args.data.client_id then
      return
    end
    if event.type == 'TextDelta' then
      view.text = view.text .. event.text
      render(view)
    elseif event.type == 'TurnStarted' or event.type == 'RetryScheduled' then
      view.text = ''
    elseif event.type == 'MessageCommitted' or event.type == 'ToolCallFinished' or event.type == 'RunFinished' then
      view.text = ''
      refresh(view)
    end
  end,
})

return M
