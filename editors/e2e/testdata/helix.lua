-- Helix without a plugin, as editors/README.md sets it up: review, progress, diagnostics, an edit accepted.

local check, say = e2e.check, e2e.say
local here = vim.fs.dirname(vim.env.AGENTLS_E2E_STORY)
local terminal = dofile(vim.fs.joinpath(here, 'terminal.lua'))

local config = vim.fs.joinpath(vim.env.XDG_CONFIG_HOME, 'helix')
vim.fn.mkdir(config, 'p')
vim.fn.writefile({
  '[editor.lsp]',
  'display-messages = true',
  'display-progress-messages = true',
  '[editor]',
  'end-of-line-diagnostics = "hint"',
}, vim.fs.joinpath(config, 'config.toml'))
vim.fn.writefile({
  '[language-server.agentls]',
  'command = "' .. vim.env.AGENTLS_BIN .. '"',
  'args = ["serve"]',
  '[[language]]',
  'name = "go"',
  'language-servers = ["agentls"]',
}, vim.fs.joinpath(config, 'languages.toml'))

-- choose opens the menu of code actions and takes the entry with this title.
local function choose(title)
  terminal.insist('<Space>a', title)
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

say('open the file')
terminal.start({ vim.env.AGENTLS_HELIX, 'cart.go' }, { TERM = 'xterm-256color' })
terminal.see('package cart')

say('review it')
-- The menu has more entries than rows, so that the command is typed. Once the menu opens the server is ready for it.
terminal.insist('<Space>a', 'agentls: Review selection')
terminal.keys('<Esc>')
terminal.see('agentls: Review selection', true)
terminal.keys(':lsp-workspace-command agentls.review<CR>')
terminal.see('reviewer completed')
terminal.see('the second is bad')
say(terminal.screen())
check(not terminal.screen():find('is good\n', 1, true), 'the text has changed before anything was accepted')

say('accept the edit')
terminal.keys('7ggx')
choose('agentls: Fix this finding: the second is bad')
terminal.see('// second is good')
terminal.see('the second is bad', true)

say('save, and leave')
terminal.keys(':wq<CR>')
terminal.finish()
local text = table.concat(vim.fn.readfile('cart.go'), '\n')
check(text:find('\n// second is good\nfunc Second', 1, true), 'the saved file is\n%s', text)
