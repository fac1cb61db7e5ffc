-- The agents: how they look, and the picker.

local async = require('agentls.async')
local client = require('agentls.client')
local methods = require('agentls.protocol').methods
local ui = require('agentls.ui')

local M = {}

---@type table<integer, table<string, agentls.AgentInfo>>
local known = {}

local function group(agent)
  local name = 'AgentlsAgent' .. agent.slug:gsub('[^%w]', '_')
  if agent.color and not pcall(vim.api.nvim_set_hl, 0, name, { fg = agent.color, default = true }) then
    return 'AgentlsAgent'
  end
  return agent.color and name or 'AgentlsAgent'
end

---Asks for the agents, inside async.go().
---@return agentls.AgentInfo[], string
function M.list(lsp, category)
  local list = client.ask(lsp, methods.ListAgents, category and { category = category } or nil)
  known[lsp.id] = known[lsp.id] or {}
  for _, agent in ipairs(list.agents) do
    known[lsp.id][agent.slug] = agent
  end
  return list.agents, list.default
end

---The icon of an agent, as wide as any other, and its colour.
---@return string, string
function M.look(id, slug)
  local agent = known[id] and known[id][slug]
  local icon = ui.icon(agent and agent.icon, nil) or (slug:sub(1, 1):upper() .. ' ')
  return icon .. (' '):rep(2 - vim.fn.strdisplaywidth(icon)), agent and group(agent) or 'AgentlsAgent'
end

---The agents, for completion. The server is asked, and started where it does not run; if it does not answer within a
---second there are none.
function M.slugs(category)
  local slugs
  async.go(function()
    slugs = vim.tbl_map(function(agent)
      return agent.slug
    end, (M.list(client.ready(), category)))
  end)
  vim.wait(1000, function()
    return slugs ~= nil
  end, 5)
  return slugs or {}
end

---Has the user choose an agent, inside async.go(); nil where he does not.
---@return agentls.AgentInfo?
function M.pick(lsp)
  local list = M.list(lsp, 'primary')
  local width = 0
  for _, agent in ipairs(list) do
    width = math.max(width, vim.fn.strdisplaywidth(agent.title))
  end
  return async.await(function(done)
    ui.select(list, {
      prompt = 'Agent',
      kind = 'agentls.agent',
      format_item = function(agent)
        local icon = M.look(lsp.id, agent.slug)
        return ('%s %s%s  %s'):format(
          icon, agent.title, (' '):rep(width - vim.fn.strdisplaywidth(agent.title)),
          agent.description:match('^[^.;\n]+') or ''
        )
      end,
    }, done)
  end)
end

return M
