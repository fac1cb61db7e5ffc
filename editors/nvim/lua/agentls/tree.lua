-- The tree of sessions and runs, in a buffer that follows what happens. It folds by itself: Neovim's own folds are lost
-- when lines come and go many times a second.

local agents = require('agentls.agents')
local async = require('agentls.async')
local client = require('agentls.client')
local live = require('agentls.live')
local methods = require('agentls.protocol').methods
local proposals = require('agentls.proposals')
local ui = require('agentls.ui')

local M = {}

-- How often the time that runs take is shown anew, in milliseconds.
local pace = 250

---@class agentls.Tree
---@field client integer
---@field buffer integer
---@field closed table<string, boolean> Nodes whose children are hidden, by id. Sessions of the past begin so.
---@field files { session: string, uri: string, open: integer }[] What is proposed and waits for the user.
---@field nodes { id: string, run?: agentls.LiveRun, session?: agentls.LiveSession, parent?: string, uri?: string }[] By line.
---@type table<integer, agentls.Tree>
local trees = {}

local function add(parts, text, colour)
  if text and text ~= '' then
    table.insert(parts, { ' · ', 'AgentlsDetail' })
    table.insert(parts, { text, colour or 'AgentlsDetail' })
  end
end

local function plural(count, noun)
  return count == 1 and '1 ' .. noun or count .. ' ' .. noun .. 's'
end

local function marker(tree, id, has)
  if not has then
    return '  '
  end
  return tree.closed[id] and ui.icon('▸ ', '> ') or ui.icon('▾ ', 'v ')
end

local function session_line(tree, session)
  local info = session.info
  local title = info.title ~= '' and info.title or 'session'
  local parts = {
    { marker(tree, info.id, not session.loaded or #session.order > 0) }, { ui.short(title, 60), 'AgentlsSession' },
  }
  if session.own then
    add(parts, 'this window')
  else
    add(parts, ui.ago(info.updated))
  end
  add(parts, plural(info.runs or #session.order, 'run'))
  if (info.openHunks or 0) > 0 then
    add(parts, plural(info.openHunks, 'open edit'), 'AgentlsBadge')
  end
  add(parts, ui.tokens(info.usage))
  return parts
end

local function run_line(tree, run, depth, has)
  local status = run.outcome or run.status
  local sign, colour = ui.sign(status)
  local icon, look = agents.look(tree.client, run.agent)
  local parts = {
    { ('  '):rep(depth + 1) },
    { marker(tree, run.id, has) },
    { sign .. ' ', colour },
    { icon .. ' ' },
    { run.agent, look },
    { '  ' .. ui.short(run.title, 48) },
  }
  local over = live.ended(run)
  local ends = over and run.finished and ui.time(run.finished) or ui.now()
  if run.status == 'waiting' and run.reason and run.reason ~= '' then
    add(parts, next(run.asks) and 'waits for you' or ui.short(run.reason, 40), colour)
  elseif status ~= 'completed' and status ~= 'running' then
    add(parts, status, colour)
  end
  for _, title in pairs(run.asks) do
    add(parts, '? ' .. ui.short(title, 60), 'AgentlsBadge')
  end
  add(parts, ui.duration(ends - ui.time(run.created)))
  add(parts, ui.tokens(run.usage))
  if not over and run.budgetUsed > 0 then
    add(parts, run.budgetUsed .. '%')
  end
  local findings = vim.tbl_count(run.findings)
  if findings > 0 then
    add(parts, plural(findings, 'finding'), 'AgentlsBadge')
  end
  if over then
    add(parts, plural(run.turns, 'turn'))
    if run.files and #run.files > 0 then
      add(parts, plural(#run.files, 'file'))
    end
  end
  if (over or run.status == 'running') and run.message ~= '' then
    add(parts, ui.short(run.message, 50))
  end
  return parts
end

local function file_line(file, depth)
  local name = vim.fn.fnamemodify(vim.uri_to_fname(file.uri), ':~:.')
  local parts = { { ('  '):rep(depth + 1) .. '± ' }, { name } }
  add(parts, plural(file.open, 'open edit'), 'AgentlsBadge')
  return parts
end

---@param tree agentls.Tree
local function render(tree)
  local state = live.state(tree.client)
  local sessions = vim.tbl_values(state.sessions)
  table.sort(sessions, function(a, b)
    if a.own ~= b.own then
      return a.own
    end
    return a.info.updated > b.info.updated
  end)
  local lines, nodes = {}, {}
  local function files(of, depth)
    for _, file in ipairs(tree.files) do
      if of(file.session) then
        table.insert(lines, file_line(file, depth))
        table.insert(nodes, { id = file.session .. ' ' .. file.uri, uri = file.uri })
      end
    end
  end
  -- What former sessions left open belongs to a session of this window, which may be in no list yet.
  files(function(id)
    return not state.sessions[id]
  end, 0)
  for _, session in ipairs(sessions) do
    table.insert(lines, session_line(tree, session))
    table.insert(nodes, { id = session.info.id, session = session })
    files(function(id)
      return id == session.info.id
    end, 1)
    local children, known = {}, {}
    for _, id in ipairs(session.order) do
      local parent = session.runs[id].parent
      parent = parent and session.runs[parent] and parent or session.info.id
      children[parent] = children[parent] or {}
      table.insert(children[parent], id)
    end
    local function below(parent, depth)
      if tree.closed[parent] then
        return
      end
      for _, id in ipairs(children[parent] or {}) do
        known[id] = true
        table.insert(lines, run_line(tree, session.runs[id], depth, children[id] ~= nil))
        table.insert(nodes, { id = id, run = session.runs[id], session = session, parent = parent })
        below(id, depth + 1)
      end
    end
    below(session.info.id, 0)
  end
  if #lines == 0 then
    lines = { { { '  Nothing has run yet. Start an agent with :Agentls run', 'AgentlsDetail' } } }
  end
  -- The cursor stays on its node, wherever that is by now.
  local windows = {}
  for _, window in ipairs(vim.fn.win_findbuf(tree.buffer)) do
    local node = tree.nodes[vim.api.nvim_win_get_cursor(window)[1]]
    windows[window] = node and node.id
  end
  ui.paint(tree.buffer, lines)
  tree.nodes = nodes
  for window, id in pairs(windows) do
    for line, node in ipairs(nodes) do
      if node.id == id then
        local at = vim.api.nvim_win_get_cursor(window)
        if at[1] ~= line then
          vim.api.nvim_win_set_cursor(window, { line, at[2] })
        end
      end
    end
  end
end

-- ask_files asks for what is proposed.
local function ask_files(tree)
  local files = {}
  for _, proposal in ipairs(client.ask(vim.lsp.get_client_by_id(tree.client), methods.Proposals).proposals) do
    for _, file in ipairs(proposal.files) do
      local open = vim.tbl_filter(proposals.undecided, file.hunks)
      if #open > 0 then
        table.insert(files, { session = proposal.session, uri = file.uri, open = #open })
      end
    end
  end
  tree.files = files
end

local timer

-- follow shows the tree anew as long as it is in a window, and something in it runs.
local function follow()
  timer = timer or assert(vim.uv.new_timer())
  if timer:is_active() then
    return
  end
  timer:start(pace, pace, vim.schedule_wrap(function()
    local busy = false
    for _, tree in pairs(trees) do
      if vim.api.nvim_buf_is_valid(tree.buffer) and #vim.fn.win_findbuf(tree.buffer) > 0 then
        render(tree)
        busy = busy or #live.active(tree.client) > 0
      end
    end
    if not busy then
      timer:stop()
    end
  end))
end

---The node at the cursor.
local function here(tree)
  return tree.nodes[vim.api.nvim_win_get_cursor(0)[1]]
end

-- load asks for the runs of a session of the past.
local function load(tree, session)
  if session.loaded then
    return
  end
  local detail = client.ask(vim.lsp.get_client_by_id(tree.client), methods.Session, { session = session.info.id })
  live.take(live.state(tree.client), detail, detail.tree)
end

local function fold(tree, node, closed)
  if closed == nil then
    closed = not tree.closed[node.id]
  end
  async.go(function()
    if not closed and not node.run and node.session then
      load(tree, node.session)
    end
    tree.closed[node.id] = closed or nil
    render(tree)
  end)
end

-- act carries something out with the run at the cursor.
local function act(tree, work)
  return function()
    local node = here(tree)
    if not node or not node.run then
      vim.notify('agentls: there is no run on this line')
      return
    end
    async.go(function()
      work(vim.lsp.get_client_by_id(tree.client), node.run)
      render(tree)
    end)
  end
end

local function text(prompt)
  return async.await(function(done)
    vim.ui.input({ prompt = prompt }, done)
  end)
end

local function keys(tree)
  local function all(closed)
    return function()
      for _, session in pairs(live.state(tree.client).sessions) do
        tree.closed[session.info.id] = closed or not session.loaded or nil
        for _, id in ipairs(session.order) do
          tree.closed[id] = closed or nil
        end
      end
      render(tree)
    end
  end
  local function toggle(closed)
    return function()
      local node = here(tree)
      if node then
        fold(tree, node, closed)
      end
    end
  end
  local help
  local map = {
    ['<CR>'] = {
      function()
        local node = here(tree)
        if node and node.run then
          require('agentls.transcript').open(node.run.id)
        elseif node and node.uri then
          require('agentls.review').open({ uri = node.uri })
        elseif node then
          fold(tree, node)
        end
      end,
      'Open the transcript of the run, review the file, or fold the session',
    },
    ['<Tab>'] = { toggle(), 'Show or hide what is below' },
    za = { toggle(), 'Show or hide what is below' },
    zo = { toggle(false), 'Show what is below' },
    zc = { toggle(true), 'Hide what is below' },
    zR = { all(false), 'Show everything' },
    zM = { all(true), 'Show sessions alone' },
    x = {
      act(tree, function(lsp, run)
        client.ask(lsp, methods.Cancel, { run = run.id })
      end),
      'Cancel the run, and what is below it',
    },
    s = {
      act(tree, function(lsp, run)
        local message = text('Tell ' .. run.agent .. ': ')
        if message and message ~= '' then
          client.ask(lsp, methods.Steer, { run = run.id, message = message })
          vim.notify(('agentls: %s is told so at its next turn'):format(run.agent))
        end
      end),
      'Steer the run: tell it something',
    },
    r = {
      act(tree, function(lsp, run)
        local prompt = text('Go on with (empty for just that): ')
        if prompt then
          client.ask(lsp, methods.Resume, { run = run.id, prompt = prompt ~= '' and prompt or nil })
        end
      end),
      'Resume the run',
    },
    t = {
      act(tree, function(_, run)
        require('agentls.transcript').open(run.id)
      end),
      'Open the transcript',
    },
    c = {
      act(tree, function(_, run)
        require('agentls.conversation').open(run.id)
      end),
      'Go on with the run in a conversation',
    },
    d = {
      act(tree, function(_, run)
        require('agentls.review').open({ run = run.id })
      end),
      'Review what the run proposes',
    },
    u = {
      act(tree, function(lsp, run)
        require('agentls.proposals').undo(lsp, run.id)
      end),
      'Undo the accepted edits of the run',
    },
    U = {
      act(tree, function(lsp, run)
        require('agentls.proposals').rewind(lsp, run)
      end),
      'Go back to before the prompt of the run',
    },
    B = {
      act(tree, function(lsp, run)
        require('agentls.proposals').restore(lsp, run)
      end),
      'Bring back what was gone back behind: propose it again',
    },
    q = {
      function()
        vim.api.nvim_win_close(0, false)
      end,
      'Close the window',
    },
    ['g?'] = {
      function()
        help()
      end,
      'Show these keys',
    },
  }
  function help()
    local lines = {}
    for key, what in vim.spairs(map) do
      table.insert(lines, ('%-6s %s'):format(key, what[2]))
    end
    vim.notify(table.concat(lines, '\n'))
  end
  ui.keys(tree.buffer, map)
end

---Whether the tree of a server is on the screen.
---@param id integer
function M.visible(id)
  local tree = trees[id]
  return tree ~= nil and vim.api.nvim_buf_is_valid(tree.buffer) and vim.fn.bufwinid(tree.buffer) >= 0
end

---Shows the tree.
function M.open()
  async.go(function()
    local lsp = client.ready()
    agents.list(lsp)
    local state = live.subscribe(lsp)
    for _, info in ipairs(client.ask(lsp, methods.Sessions, { limit = 20 }).sessions) do
      local known = state.sessions[info.id]
      if not known then
        known = live.take(state, info)
      end
    end
    local tree = trees[lsp.id]
    if not tree or not vim.api.nvim_buf_is_valid(tree.buffer) then
      tree = {
        client = lsp.id, buffer = ui.scratch('agentls://sessions/' .. lsp.id, lsp), closed = {}, files = {}, nodes = {},
      }
      trees[lsp.id] = tree
      vim.bo[tree.buffer].filetype = 'agentls-tree'
      keys(tree)
    end
    for id, session in pairs(state.sessions) do
      if not session.loaded then
        tree.closed[id] = true
      end
    end
    ask_files(tree)
    local window = ui.show(tree.buffer)
    vim.wo[window][0].winbar = '%#AgentlsTitle# Sessions %*%#AgentlsDetail# <CR> transcript · x cancel · s steer · r resume · d diff · u undo · za fold%< · g? keys%*'
    render(tree)
    follow()
  end)
end

vim.api.nvim_create_autocmd('User', {
  group = vim.api.nvim_create_augroup('agentls.tree', {}),
  pattern = 'AgentlsEvent',
  callback = function(event)
    local id = event.data.client_id
    if not trees[id] then
      return
    end
    if not event.data.ended then
      if event.data.event and event.data.event.type == 'ProposalChanged' then
        local tree = trees[id]
        async.go(function()
          ask_files(tree)
          follow()
        end)
      end
      follow()
    else
      -- The server has ended, and what it knew with it.
      pcall(vim.api.nvim_buf_delete, trees[id].buffer, { force = true })
      trees[id] = nil
    end
  end,
})

return M
