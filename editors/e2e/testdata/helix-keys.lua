-- What stories in Helix share: how it is set up, and its menu of code actions.

local say = e2e.say
local terminal = dofile(vim.fs.joinpath(vim.fs.dirname(vim.env.AGENTLS_E2E_STORY), 'terminal.lua'))
local M = { terminal = terminal }

---Starts Helix on a file, with the server for some languages.
function M.start(file, languages)
  local config = vim.fs.joinpath(vim.env.XDG_CONFIG_HOME, 'helix')
  vim.fn.mkdir(config, 'p')
  vim.fn.writefile({
    '[editor.lsp]',
    'display-messages = true',
    'display-progress-messages = true',
    '[editor]',
    'end-of-line-diagnostics = "hint"',
  }, vim.fs.joinpath(config, 'config.toml'))
  local lines = { '[language-server.agentls]', 'command = "' .. vim.env.AGENTLS_BIN .. '"', 'args = ["serve"]' }
  for _, language in ipairs(languages) do
    vim.list_extend(lines, { '[[language]]', 'name = "' .. language .. '"', 'language-servers = ["agentls"]' })
  end
  vim.fn.writefile(lines, vim.fs.joinpath(config, 'languages.toml'))
  terminal.start({ vim.env.AGENTLS_HELIX, file }, { TERM = 'xterm-256color' })
end

---Opens the menu of code actions and takes the entry with this title.
function M.choose(title)
  terminal.insist('<Space>a', 'agentls: ' .. title)
  local index = -1
  for _, line in ipairs(vim.split(terminal.screen(), '\n')) do
    if line:find('agentls: ', 1, true) then
      index = index + 1
      if line:find(title, 1, true) then
        break
      end
    end
  end
  terminal.keys(('<C-n>'):rep(index) .. '<CR>')
  say('  chose ' .. title)
end

---Runs a command of the server's. The menu has more entries than rows, so that the name is typed; once the menu opens,
---the server is ready for it.
function M.command(name)
  terminal.insist('<Space>a', 'agentls: Review selection')
  terminal.keys('<Esc>')
  terminal.see('agentls: Review selection', 0)
  terminal.keys(':lsp-workspace-command ' .. name .. '<CR>')
end

return M
