-- Starting and stopping agents.

local agents = require('agentls.agents')
local async = require('agentls.async')
local client = require('agentls.client')
local live = require('agentls.live')
local options = require('agentls.options')
local protocol = require('agentls.protocol')
local ui = require('agentls.ui')

local methods, commands = protocol.methods, protocol.commands
local M = {}

---What the editor points at: the file of a buffer, and lines of it where some are selected.
---@param buffer integer
---@param first? integer 1-based
---@param last? integer
---@return agentls.RunContext?
local function context(buffer, first, last)
  if vim.bo[buffer].buftype ~= '' or vim.api.nvim_buf_get_name(buffer) == '' then
    return nil
  end
  local about = { uri = vim.uri_from_bufnr(buffer) }
  if first then
    about.range = { start = { line = first - 1, character = 0 }, ['end'] = { line = last, character = 0 } }
  end
  return about
end

-- show brings an answer up, beside what the user is at.
local function show(lsp, run, agent, output)
  local buffer = ui.scratch('agentls://answer/' .. run, lsp)
  ui.fill(buffer, vim.split(vim.trim(output), '\n'))
  vim.bo[buffer].filetype = 'markdown'
  local former = vim.api.nvim_get_current_win()
  local window = ui.show(
    buffer, math.min(math.floor(vim.o.lines * 0.4), math.max(4, vim.api.nvim_buf_line_count(buffer) + 2)), true
  )
  vim.wo[window][0].conceallevel = 2
  vim.wo[window][0].winbar = '%#AgentlsTitle# ' .. agent .. '%*%#AgentlsDetail#  q close · t transcript%*'
  ui.keys(buffer, {
    q = {
      function()
        vim.api.nvim_win_close(0, false)
      end,
      'Close the window',
    },
    t = {
      function()
        require('agentls.transcript').open(run)
      end,
      'Open the transcript',
    },
  })
  vim.api.nvim_set_current_win(former)
end

-- follow waits for the end of a run and shows what came of it. A review's findings and edits have places of their own.
local function follow(lsp, started)
  live.subscribe(lsp)
  local result = client.ask(lsp, methods.Wait, { run = started.run })
  local run = live.run(lsp.id, started.run)
  local agent = run and run.agent or 'agent'
  if options.current.answers and result.status == 'completed' and agent ~= 'reviewer' and vim.trim(result.output) ~= '' then
    show(lsp, started.run, agent, result.output)
  end
end

---@param lsp vim.lsp.Client
local function execute(lsp, command, argument)
  return client.ask(lsp, 'workspace/executeCommand', { command = command, arguments = { argument } })
end

local function input(prompt)
  local text = async.await(function(done)
    vim.ui.input({ prompt = prompt }, done)
  end)
  return text and text ~= '' and text or nil
end

---Starts an agent. What is not given is asked for.
---@param about { agent?: string, prompt?: string, first?: integer, last?: integer }
function M.run(about)
  local buffer = vim.api.nvim_get_current_buf()
  async.go(function()
    local lsp = client.ready(buffer)
    local agent, prompt = about.agent, about.prompt
    if not agent and not prompt then
      local picked = agents.pick(lsp)
      if not picked then
        return
      end
      agent = picked.slug
    end
    prompt = prompt or input((agent or 'agent') .. ': ')
    if not prompt then
      return
    end
    follow(
      lsp,
      client.ask(
        lsp, methods.Run, { agent = agent, prompt = prompt, context = context(buffer, about.first, about.last) }
      )
    )
  end)
end

---Reviews the file, or lines of it.
---@param about { prompt?: string, first?: integer, last?: integer }
function M.review(about)
  local buffer = vim.api.nvim_get_current_buf()
  async.go(function()
    local lsp = client.ready(buffer)
    local place = context(buffer, about.first, about.last) or {}
    follow(
      lsp, execute(lsp, commands.Review, vim.tbl_extend('force', vim.empty_dict(), place, { prompt = about.prompt }))
    )
  end)
end

---Reviews what has changed in the repository.
---@param scope { kind: 'uncommitted'|'staged'|'base'|'commit', revision?: string }
function M.review_changes(scope)
  async.go(function()
    if (scope.kind == 'base' or scope.kind == 'commit') and not scope.revision then
      async.fail(('say which one, as in :Agentls changes %s main'):format(scope.kind))
    end
    local lsp = client.ready()
    follow(lsp, execute(lsp, commands.Review, { changes = scope }))
  end)
end

---Explains the file, or lines of it.
---@param about { first?: integer, last?: integer }
function M.explain(about)
  local buffer = vim.api.nvim_get_current_buf()
  async.go(function()
    local lsp = client.ready(buffer)
    local place = context(buffer, about.first, about.last)
    if not place then
      async.fail('this buffer is no file that could be explained')
    end
    follow(lsp, execute(lsp, commands.ExplainCode, place))
  end)
end

---Proposes to remember something in the nearest AGENTS.md. What is not given is asked for.
---@param text? string
function M.remember(text)
  local buffer = vim.api.nvim_get_current_buf()
  async.go(function()
    local lsp = client.ready(buffer)
    text = text or input('Remember: ')
    if not text then
      return
    end
    follow(lsp, execute(lsp, commands.Remember, { text = text, uri = (context(buffer) or {}).uri }))
  end)
end

---Stops what runs. Where there are several, the user chooses, unless all are meant.
---@param all boolean
function M.stop(all)
  async.go(function()
    local lsp = client.ready()
    live.subscribe(lsp)
    local roots = vim.tbl_filter(function(run)
      return not run.parent
    end, live.active(lsp.id))
    if #roots == 0 then
      vim.notify('agentls: nothing runs')
      return
    end
    if #roots > 1 and not all then
      local chosen = async.await(function(done)
        ui.select(roots, {
          prompt = 'Stop',
          kind = 'agentls.run',
          format_item = function(run)
            return agents.look(lsp.id, run.agent) .. ' ' .. run.agent .. ': ' .. ui.short(run.title, 60)
          end,
        }, done)
      end)
      roots = { chosen }
    end
    for _, run in ipairs(roots) do
      client.ask(lsp, methods.Cancel, { run = run.id })
    end
  end)
end

---Takes the accepted edits of a run back: of the one that is named, else of the latest that has some.
---@param run? agentls.RunID
function M.undo(run)
  async.go(function()
    local lsp = client.ready()
    local latest = not run and client.ask(lsp, methods.Proposals).undoable[1]
    if not run and not latest then
      async.fail('no accepted edit can be undone')
    end
    require('agentls.proposals').undo(lsp, run or latest.id)
  end)
end

return M
