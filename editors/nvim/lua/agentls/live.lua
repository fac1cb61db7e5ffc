-- What is known of sessions and runs: the snapshot of agent/subscribe, kept up to date by agent/event. Whoever shows it
-- listens to the autocommand `User AgentlsEvent`, whose data are `{ client_id, event, ended }`; the event is nil where
-- everything may have changed, and `ended` true where the server has.

local client = require('agentls.client')
local methods = require('agentls.protocol').methods

local M = {}

---@class agentls.LiveRun: agentls.RunInfo
---@field asks table<agentls.AskID, string> Open questions, by id, with their titles.
---@field findings table<agentls.FindingID, boolean> What it has found, and still holds.

---@class agentls.LiveSession
---@field info agentls.SessionInfo
---@field seq integer The number of the last event.
---@field runs table<agentls.RunID, agentls.LiveRun>
---@field order agentls.RunID[] In order of creation.
---@field own boolean Whether events of it come.
---@field loaded boolean Whether its runs are known.

---@class agentls.LiveState
---@field sessions table<agentls.SessionID, agentls.LiveSession>
---@field early agentls.Event[] What came before the snapshot.
---@field subscribed? 'asked'|'done'
---@field current? agentls.SessionID The session of the latest event.

---@type table<integer, agentls.LiveState>
local states = {}

local function tell(id, event, ended)
  vim.api.nvim_exec_autocmds(
    'User', { pattern = 'AgentlsEvent', modeline = false, data = { client_id = id, event = event, ended = ended } }
  )
end

---@return agentls.LiveState
function M.state(id)
  states[id] = states[id] or { sessions = {}, early = {} }
  return states[id]
end

---Drops what is known of a server that has ended.
function M.forget(id)
  if states[id] then
    states[id] = nil
    tell(id, nil, true)
  end
end

local function add(session, run)
  run.asks, run.findings = run.asks or {}, run.findings or {}
  if not session.runs[run.id] then
    table.insert(session.order, run.id)
  end
  session.runs[run.id] = run
end

---Takes a session in that agent/sessions or agent/session tells of.
---@param state agentls.LiveState
---@param info agentls.SessionInfo
---@param tree? agentls.RunInfo[]
function M.take(state, info, tree)
  local session = state.sessions[info.id]
  if not session then
    session = { info = info, seq = 0, runs = {}, order = {}, own = false, loaded = false }
    state.sessions[info.id] = session
  end
  session.info = info
  if tree then
    local former = session.runs
    session.runs, session.order, session.loaded = {}, {}, true
    for _, run in ipairs(tree) do
      local known = former[run.id]
      run.asks, run.findings = known and known.asks, known and known.findings
      add(session, run)
    end
  end
  return session
end

local change = {}

function change.RunCreated(session, _, event)
  if session.runs[event.run] then
    return
  end
  add(session, {
    id = event.run,
    session = event.session,
    parent = event.parent,
    agent = event.agent,
    role = event.role,
    depth = event.depth,
    title = event.title,
    model = event.model,
    status = 'pending',
    created = event.time,
    turns = 0,
    budgetUsed = 0,
    message = '',
    uri = event.uri,
  })
  session.info.runs = #session.order
  if not session.info.title or session.info.title == '' then
    session.info.title = event.title
  end
end

function change.RunStatusChanged(_, run, event)
  run.status, run.reason = event.status, event.reason
end

function change.RunProgress(_, run, event)
  run.turns, run.budgetUsed, run.usage, run.message = event.turn, event.budgetUsed, event.usage, event.message
end

function change.ToolCallStarted(_, run, event)
  run.message = event.title
end

function change.AskOpened(_, run, event)
  run.asks[event.ask] = event.title
end

function change.AskResolved(_, run, event)
  run.asks[event.ask] = nil
end

function change.FindingReported(_, run, event)
  run.findings[event.finding.id] = true
end

function change.FindingCleared(_, run, event)
  run.findings[event.finding] = nil
end

function change.ProposalChanged(session, _, event)
  session.info.openHunks = event.open + event.conflict
end

function change.SessionChanged(session, _, event)
  session.info.title, session.info.summary = event.title, event.summary
end

function change.RunFinished(_, run, event)
  run.status, run.reason, run.finished, run.usage = event.status, event.reason, event.time, event.usage
  run.output, run.asks = event.result.output, {}
  run.turns, run.outcome, run.files = event.result.turns, event.result.outcome, event.result.files
  run.message = vim.trim(event.result.output):match('^[^\n]*')
end

local function apply(state, event)
  local session = state.sessions[event.session]
  if not session then
    session = M.take(
      state,
      {
        id = event.session,
        title = '',
        folders = {},
        created = event.time,
        updated = event.time,
        status = 'running',
        runs = 0,
        openHunks = 0,
      },
      {}
    )
  end
  session.own, session.loaded, state.current = true, true, event.session
  session.seq = math.max(session.seq, event.seq)
  session.info.updated = event.time
  local run = event.run and session.runs[event.run]
  local how = change[event.type]
  if how and (run or event.type == 'RunCreated' or event.type == 'ProposalChanged' or event.type == 'SessionChanged') then
    how(session, run, event)
  end
end

---Takes an agent/event.
---@param event agentls.Event
function M.handle(event, context)
  local state = M.state(context.client_id)
  if state.subscribed ~= 'done' then
    table.insert(state.early, event)
    return
  end
  apply(state, event)
  tell(context.client_id, event)
end

---Has events come from now on, inside async.go().
function M.subscribe(lsp)
  local state = M.state(lsp.id)
  if state.subscribed then
    return state
  end
  state.subscribed = 'asked'
  local ok, result = pcall(client.ask, lsp, methods.Subscribe, {})
  if not ok then
    state.subscribed = nil
    error(result, 0)
  end
  for _, snapshot in ipairs(result.sessions) do
    local session = M.take(state, snapshot.session, snapshot.tree)
    session.seq, session.own = snapshot.seq, true
    state.current = state.current or session.info.id
    for _, ask in ipairs(snapshot.asks) do
      if session.runs[ask.run] then
        session.runs[ask.run].asks[ask.id] = ask.title
      end
    end
  end
  state.subscribed = 'done'
  for _, event in ipairs(state.early) do
    local session = state.sessions[event.session]
    if not session or event.seq > session.seq then
      apply(state, event)
    end
  end
  state.early = {}
  tell(lsp.id)
  return state
end

---Finds a run among those that are known.
---@return agentls.LiveRun?, agentls.LiveSession?
function M.run(id, run)
  for _, session in pairs(M.state(id).sessions) do
    if session.runs[run] then
      return session.runs[run], session
    end
  end
end

local final = { completed = true, failed = true, cancelled = true, timeout = true, interrupted = true }

---Whether a run has ended.
function M.ended(run)
  return final[run.status] or false
end

---The runs that have not ended, the oldest first.
---@return agentls.LiveRun[]
function M.active(id)
  local list = {}
  for _, session in pairs(M.state(id).sessions) do
    for _, run in ipairs(session.order) do
      if session.own and not M.ended(session.runs[run]) then
        table.insert(list, session.runs[run])
      end
    end
  end
  table.sort(list, function(a, b)
    return a.created < b.created
  end)
  return list
end

return M
