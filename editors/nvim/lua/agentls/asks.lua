-- Questions for permission.

local async = require('agentls.async')
local client = require('agentls.client')
local live = require('agentls.live')
local methods = require('agentls.protocol').methods
local prompts = require('agentls.prompts')

local M = {}

-- What takes a question back, by its id.
local open = {}

---@param ask agentls.Ask
---@return agentls.AskAnswer?
local function prompt(ask)
  local items = { { 'Allow once', { decision = 'allow', scope = 'once' } } }
  if ask.always and ask.always ~= '' then
    table.insert(items, { 'Allow for this run', { decision = 'allow', scope = 'run' } })
    table.insert(items, { 'Always allow ' .. ask.always, { decision = 'allow', scope = 'project' } })
  end
  table.insert(items, { 'Deny', { decision = 'deny', scope = 'once' } })
  local item = prompts.choose(items, {
    prompt = vim.startswith(ask.title, ask.agent) and ask.title or ask.agent .. ': ' .. ask.title,
    kind = 'agentls.ask',
    detail = ask.detail ~= ask.title and ask.detail or nil,
    format_item = function(item)
      return item[1]
    end,
  }, function(close)
    open[ask.id] = close
  end)
  open[ask.id] = nil
  return item and item[2]
end

---Answers agent/ask.
---@param ask agentls.Ask
function M.handle(ask, context)
  async.go(function()
    -- It may be answered elsewhere, or run out of time.
    live.subscribe(assert(vim.lsp.get_client_by_id(context.client_id)))
  end)
  return prompt(ask) or vim.NIL
end

---Shows the open questions again, after they were closed.
function M.open()
  async.go(function()
    local lsp = client.ready()
    local asks = client.ask(lsp, methods.Asks).asks
    if #asks == 0 then
      vim.notify('agentls: there is no open question')
      return
    end
    for _, ask in ipairs(asks) do
      local answer
      if ask.question then
        local given = require('agentls.questions').prompt(ask.question)
        answer = given and { decision = 'allow', answers = given.answers }
      else
        answer = prompt(ask)
      end
      if answer then
        client.ask(lsp, methods.AnswerAsk, vim.tbl_extend('force', { ask = ask.id }, answer))
      end
    end
  end)
end

---Has a question taken back when it is resolved.
---@param id agentls.AskID
---@param close fun()
function M.shown(id, close)
  open[id] = close
end

vim.api.nvim_create_autocmd('User', {
  group = vim.api.nvim_create_augroup('agentls.asks', {}),
  pattern = 'AgentlsEvent',
  callback = function(args)
    local event = args.data.event
    local close = event and event.type == 'AskResolved' and open[event.ask]
    if close then
      open[event.ask] = nil
      close()
    end
  end,
})

return M
