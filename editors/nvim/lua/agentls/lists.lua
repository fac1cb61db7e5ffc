-- What is asked for now and then: usage, grants, trust.

local async = require('agentls.async')
local client = require('agentls.client')
local methods = require('agentls.protocol').methods
local ui = require('agentls.ui')

local M = {}

local function choose(items, prompt, detail, format)
  return async.await(function(done)
    ui.select(items, { prompt = prompt, kind = 'agentls.list', detail = detail, format_item = format }, done)
  end)
end

---Shows what runs have used, summed up by session, agent, model, project or day.
---@param by? agentls.UsageGroup
function M.usage(by)
  async.go(function()
    local lsp = client.ready()
    by = by or 'agent'
    local report = client.ask(lsp, methods.Usage, { by = by })
    local function row(r, name)
      local usage = r.usage
      local cost = usage.cost and ('$%.4f'):format(usage.cost) or r.knownCost > 0 and ('≥ $%.4f'):format(r.knownCost) or '–'
      return {
        name, tostring(r.runs), r.ended > 0 and ('%d%%'):format(math.floor(100 * r.completed / r.ended + 0.5)) or '–',
        tostring(r.turns), ui.duration(r.durationMs), ('%d'):format(usage.inputTokens),
        ('%d'):format(usage.outputTokens), cost,
      }
    end
    local rows = { { by, 'runs', 'success', 'turns', 'time', 'tokens in', 'out', 'cost' } }
    for _, r in ipairs(report.rows) do
      table.insert(rows, row(r, ui.short(r.key, 40)))
    end
    table.insert(rows, row(report.total, 'total'))
    local widths = {}
    for _, r in ipairs(rows) do
      for i, cell in ipairs(r) do
        widths[i] = math.max(widths[i] or 0, vim.fn.strdisplaywidth(cell))
      end
    end
    local lines = {}
    for at, r in ipairs(rows) do
      local pieces = {}
      for i, cell in ipairs(r) do
        local space = (' '):rep(widths[i] - vim.fn.strdisplaywidth(cell))
        table.insert(
          pieces,
          {
            i == 1 and ' ' .. cell .. space or '  ' .. space .. cell,
            (at == 1 or at == #rows) and 'AgentlsTitle' or nil,
          }
        )
      end
      lines[at] = pieces
    end
    local buffer = ui.scratch('agentls://usage', lsp)
    ui.paint(buffer, lines)
    ui.keys(buffer, {
      q = {
        function()
          vim.api.nvim_win_close(0, false)
        end,
        'Close the window',
      },
    })
    ui.show(buffer, math.min(#lines + 1, 15), true)
  end)
end

---Lists the remembered permissions, to take one back.
function M.grants()
  async.go(function()
    local lsp = client.ready()
    local grants = client.ask(lsp, methods.Grants).grants
    if #grants == 0 then
      vim.notify('agentls: no permission is remembered')
      return
    end
    local grant = choose(grants, 'Remembered permissions: choose one to take back', nil, function(grant)
      return ('%s %s(%s)  for this %s, given %s'):format(
        grant.decision, grant.tool, grant.pattern, grant.scope, ui.ago(grant.created)
      )
    end)
    if grant then
      client.ask(lsp, methods.Revoke, { grant = grant.id })
      vim.notify(('agentls: %s(%s) is taken back'):format(grant.tool, grant.pattern))
    end
  end)
end

---Shows what acts in the workspace folder, and changes whether it is trusted.
---@param change? 'trust'|'revoke'|'show'
function M.trust(change)
  async.go(function()
    local lsp = client.ready()
    local now = client.ask(lsp, methods.Trust, {})
    local name = vim.fn.fnamemodify(vim.uri_to_fname(now.folder), ':~')
    local lines = {}
    for _, item in ipairs(now.items) do
      table.insert(lines, item.kind .. ': ' .. item.description)
    end
    if #lines == 0 then
      table.insert(lines, 'Nothing in it would act.')
    end
    local title = name .. (now.trusted and ' is trusted' or ' is not trusted')
    if change == 'show' then
      vim.notify('agentls: ' .. title .. '\n' .. table.concat(lines, '\n'))
      return
    end
    if not change then
      local items = now.trusted
        and { { 'Trust it no longer', 'revoke' }, { 'Leave it so' } }
        or { { 'Trust it', 'trust' }, { 'Leave it so' } }
      local item = choose(items, title, table.concat(lines, '\n'), function(item)
        return item[1]
      end)
      change = item and item[2]
    end
    if change then
      now = client.ask(lsp, methods.Trust, { change = change })
      vim.notify('agentls: ' .. name .. (now.trusted and ' is trusted' or ' is not trusted'))
    end
  end)
end

return M
