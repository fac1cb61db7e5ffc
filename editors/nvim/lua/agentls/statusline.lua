-- What agentls does, for a status line.

local ui = require('agentls.ui')

local M = {}

---@type table<integer, agentls.StatusParams>
local status = {}

---Takes agent/status.
---@param params agentls.StatusParams
function M.handle(params, context)
  status[context.client_id] = params
  vim.cmd.redrawstatus({ bang = true })
end

---The server's own words on how it is, for :checkhealth.
function M.of(id)
  return status[id]
end

---@return string
function M.text()
  local client = require('agentls.client').find()
  if not client then
    return ''
  end
  local said = status[client.id]
  local parts = {}
  if said and said.health ~= 'ok' then
    table.insert(parts, ui.icon('⚠', '!'))
  end
  if said and said.statusline and said.statusline ~= '' then
    table.insert(parts, said.statusline)
    return table.concat(parts, ' ')
  end
  local running = require('agentls.progress').running(client.id)
  if #running == 1 then
    vim.list_extend(parts, { ui.spinner(), running[1].title })
    if (running[1].percentage or 0) > 0 then
      table.insert(parts, running[1].percentage .. '%')
    end
  elseif #running > 1 then
    vim.list_extend(parts, { ui.spinner(), #running .. ' agents' })
  end
  local asks, edits = 0, 0
  for _, session in pairs(require('agentls.live').state(client.id).sessions) do
    if session.own then
      edits = edits + (session.info.openHunks or 0)
      for _, run in pairs(session.runs) do
        asks = asks + vim.tbl_count(run.asks)
      end
    end
  end
  if asks > 0 then
    table.insert(parts, '?' .. asks)
  end
  if edits > 0 then
    table.insert(parts, ui.icon('✎', 'edits ') .. edits)
  end
  return table.concat(parts, ' ')
end

return M
