-- :checkhealth agentls

local M = {}

-- doctor tells what the server's own check found.
local function doctor(program)
  local answer = vim.system({ program, 'doctor', '--json' }, { text = true, timeout = 60000 }):wait()
  local ok, report = pcall(vim.json.decode, answer.stdout or '')
  if not ok or not report.checks then
    vim.health.error(program .. ' does not run: ' .. vim.trim(answer.stderr ~= '' and answer.stderr or answer.stdout or ''))
    return
  end
  for _, check in ipairs(report.checks) do
    local by = { ok = vim.health.ok, warning = vim.health.warn, failed = vim.health.error }
    local tell = by[check.outcome] or vim.health.info
    tell(check.name .. ': ' .. check.detail, check.hint and tell ~= vim.health.ok and { check.hint } or nil)
  end
end

function M.check()
  local health = vim.health
  health.start('agentls')
  if vim.fn.has('nvim-0.10') == 1 then
    health.ok('Neovim ' .. tostring(vim.version()))
  else
    health.error('Neovim 0.10 or later is needed')
    return
  end
  local command = require('agentls.options').current.cmd
  if vim.lsp.config then
    command = (vim.lsp.config.agentls or {}).cmd or command
  end
  local program = vim.fn.exepath(command[1])
  if program == '' then
    health.error(('%q is not to be found'):format(command[1]), {
      'Install agentls, and put it on PATH.',
      'Or name it: require("agentls").setup({ cmd = { "/path/to/agentls", "serve" } })',
    })
    return
  end
  health.ok('The server is ' .. program)
  local clients = vim.lsp.get_clients({ name = 'agentls' })
  if #clients == 0 then
    health.info('The server does not run. It starts with the first :Agentls, or with a file after setup().')
  end
  for _, client in ipairs(clients) do
    local buffers = vim.tbl_count(client.attached_buffers)
    health.ok(('It runs for %s (%s)'):format(
      client.config.root_dir or 'no folder', buffers == 1 and '1 buffer' or buffers .. ' buffers'
    ))
    local status = require('agentls.statusline').of(client.id)
    if status and status.health ~= 'ok' then
      health.warn(status.message or status.health)
    end
    local theirs = vim.tbl_get(client.server_capabilities, 'experimental', 'agentls', 'version')
    local ours = require('agentls.protocol').version
    if theirs ~= ours then
      health.warn(
        ('The server speaks version %s of the protocol, this plugin %s'):format(tostring(theirs), ours),
        { 'Install both from the same release.' }
      )
    end
  end
  health.start('agentls: what the server works with')
  doctor(program)
end

return M
