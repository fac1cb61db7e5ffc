-- The command :Agentls, and what can be completed behind it.

local M = {}

---@class agentls.Subcommand
---@field icon string
---@field about string
---@field words? fun(): string[] What can stand behind it.
---@field run fun(call: { words: string[], rest?: string, first?: integer, last?: integer, line: integer, bang: boolean })

---@type table<string, agentls.Subcommand>
local subcommands = {
  review = {
    icon = '⌕',
    about = 'Review this file, or the selection',
    run = function(call)
      require('agentls.runs').review({ prompt = call.rest, first = call.first, last = call.last })
    end,
  },
  changes = {
    icon = '±',
    about = 'Review what is not committed, or: staged, base REF, commit REF',
    words = function()
      return { 'uncommitted', 'staged', 'base', 'commit' }
    end,
    run = function(call)
      require('agentls.runs').review_changes({ kind = call.words[1] or 'uncommitted', revision = call.words[2] })
    end,
  },
  run = {
    icon = '▶',
    about = 'Start an agent: :Agentls run [@agent] [what to do]',
    words = function()
      return vim.tbl_map(function(slug)
        return '@' .. slug
      end, require('agentls.agents').slugs('primary'))
    end,
    run = function(call)
      local agent, prompt = (call.rest or ''):match('^@(%S+)%s*(.*)$')
      prompt = agent and prompt or call.rest
      require('agentls.runs').run({
        agent = agent, prompt = prompt ~= '' and prompt or nil, first = call.first, last = call.last,
      })
    end,
  },
  plan = {
    icon = '≡',
    about = 'Plan a change; nothing is changed before you say so',
    run = function(call)
      require('agentls.runs').run({ agent = 'planner', prompt = call.rest, first = call.first, last = call.last })
    end,
  },
  remember = {
    icon = '+',
    about = 'Have agents remember something: a proposal for AGENTS.md',
    run = function(call)
      require('agentls.runs').remember(call.rest)
    end,
  },
  explain = {
    icon = '¿',
    about = 'Explain this file, or the selection',
    run = function(call)
      require('agentls.runs').explain(call)
    end,
  },
  stop = {
    icon = '■',
    about = 'Stop what runs; with !, all of it',
    run = function(call)
      require('agentls.runs').stop(call.bang)
    end,
  },
  tree = {
    icon = '⊢',
    about = 'Show sessions, agents and subagents, live',
    run = function()
      require('agentls.tree').open()
    end,
  },
  conversation = {
    icon = '❝',
    about = 'Talk with an agent in a document: a new one, or on with a run',
    run = function(call)
      require('agentls.conversation').open(call.words[1])
    end,
  },
  send = {
    icon = '➤',
    about = 'Send what is written below the last heading of a conversation',
    run = function()
      require('agentls.conversation').send()
    end,
  },
  rewind = {
    icon = '↺',
    about = 'Go back to before the prompt at the cursor of a conversation',
    run = function()
      require('agentls.conversation').rewind()
    end,
  },
  transcript = {
    icon = '¶',
    about = 'Show what was said in the latest run',
    run = function(call)
      require('agentls.transcript').open(call.words[1])
    end,
  },
  proposals = {
    icon = '✎',
    about = 'Review what is proposed',
    run = function()
      require('agentls.review').open()
    end,
  },
  accept = {
    icon = '✓',
    about = 'Accept the edit at the cursor, of the lines, of the file, or all',
    words = function()
      return { 'file', 'all' }
    end,
    run = function(call)
      require('agentls.proposals').decide('accept', call.words[1], call.first or call.line, call.last or call.line)
    end,
  },
  reject = {
    icon = '✗',
    about = 'Reject the edit at the cursor, or those that accept would take',
    words = function()
      return { 'file', 'all' }
    end,
    run = function(call)
      require('agentls.proposals').decide('reject', call.words[1], call.first or call.line, call.last or call.line)
    end,
  },
  next = {
    icon = '↓',
    about = 'To the next proposed edit of this file',
    run = function()
      require('agentls.proposals').jump(1)
    end,
  },
  previous = {
    icon = '↑',
    about = 'To the proposed edit before',
    run = function()
      require('agentls.proposals').jump(-1)
    end,
  },
  undo = {
    icon = '↶',
    about = 'Take back what the latest run did',
    run = function(call)
      require('agentls.runs').undo(call.words[1])
    end,
  },
  asks = {
    icon = '?',
    about = 'Answer the questions of agents that are open',
    run = function()
      require('agentls.asks').open()
    end,
  },
  trust = {
    icon = '⚿',
    about = 'Show and change whether this folder is trusted',
    words = function()
      return { 'show', 'trust', 'revoke' }
    end,
    run = function(call)
      require('agentls.lists').trust(call.words[1])
    end,
  },
  grants = {
    icon = '⚷',
    about = 'List remembered permissions, and take one back',
    run = function()
      require('agentls.lists').grants()
    end,
  },
  usage = {
    icon = 'Σ',
    about = 'Show tokens, cost and outcomes, by agent, model, session, project or day',
    words = function()
      return { 'agent', 'model', 'session', 'project', 'day' }
    end,
    run = function(call)
      require('agentls.lists').usage(call.words[1])
    end,
  },
  log = {
    icon = '…',
    about = "Open the editor's log of language servers",
    run = function()
      vim.cmd.tabedit(vim.fn.fnameescape(require('agentls.compat').log()))
      vim.cmd('normal! G')
    end,
  },
  restart = {
    icon = '↻',
    about = 'Start the server again',
    run = function()
      require('agentls.client').restart()
    end,
  },
}
subcommands.sessions = vim.tbl_extend('force', subcommands.tree, { about = 'The same as tree' })

-- The order of the menu: what is used most comes first.
local order = {
  'review', 'changes', 'run', 'plan', 'explain', 'conversation', 'send', 'rewind', 'remember', 'proposals', 'accept',
  'reject', 'undo', 'tree', 'transcript', 'stop', 'asks', 'trust', 'grants', 'usage', 'log', 'restart',
}

local function menu(call)
  local ui = require('agentls.ui')
  ui.select(order, {
    prompt = 'agentls',
    kind = 'agentls.command',
    format_item = function(name)
      return ('%s%-12s %s'):format(ui.icon(subcommands[name].icon .. ' ', ''), name, subcommands[name].about)
    end,
  }, function(name)
    if name then
      subcommands[name].run(call)
    end
  end)
end

---Runs the command.
---@param arguments vim.api.keyset.create_user_command.command_args
function M.run(arguments)
  local name, rest = vim.trim(arguments.args):match('^(%S*)%s*(.*)$')
  -- The ! may stand behind either word: ":Agentls! stop", ":Agentls stop!".
  local plain = name:match('^(.+)!$')
  name = plain or name
  local call = {
    rest = rest ~= '' and rest or nil,
    words = vim.split(rest, '%s+', { trimempty = true }),
    bang = arguments.bang or plain ~= nil,
    line = vim.api.nvim_win_get_cursor(0)[1],
  }
  if arguments.range > 0 then
    call.first, call.last = arguments.line1, arguments.line2
  end
  if name == '' then
    return menu(call)
  end
  local subcommand = subcommands[name]
  if not subcommand then
    local near = vim.fn.matchfuzzy(vim.tbl_keys(subcommands), name)[1]
    vim.notify(
      ('agentls: there is no :Agentls %s%s'):format(name, near and '; did you mean ' .. near .. '?' or ''),
      vim.log.levels.ERROR
    )
    return
  end
  subcommand.run(call)
end

---What the word at the cursor could become.
---@param lead string
---@param line string
---@return string[]
function M.complete(lead, line)
  local behind = line:match('Agentls!?%s+(.*)$') or ''
  local name = behind:match('^(%S+)%s')
  local words
  if name then
    local subcommand = subcommands[name]
    -- Only the first word is one of a few.
    words = subcommand and subcommand.words and not behind:match('^%S+%s+%S+%s') and subcommand.words() or {}
  else
    words = vim.tbl_keys(subcommands)
  end
  words = vim.tbl_filter(function(word)
    return vim.startswith(word, lead)
  end, words)
  table.sort(words)
  return words
end

return M
