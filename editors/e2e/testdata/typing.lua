-- The plugin on a screen: an agent asks while the user types. The menu waits for normal mode, and takes no key in its
-- first moment.

local check, say = e2e.check, e2e.say
local terminal = dofile(vim.fs.joinpath(vim.fs.dirname(vim.env.AGENTLS_E2E_STORY), 'terminal.lua'))

local plugin = vim.fs.dirname(vim.fs.dirname(vim.api.nvim_get_runtime_file('plugin/agentls.lua', false)[1]))
local init = vim.fs.joinpath(vim.env.HOME, 'init.lua')
vim.fn.writefile({
  ('vim.opt.runtimepath:prepend(%q)'):format(plugin),
  'vim.o.laststatus = 2',
  'vim.o.statusline = "%{v:lua.require(\'agentls\').statusline()}"',
  ('require("agentls").setup({ cmd = { %q, "serve" } })'):format(vim.env.AGENTLS_BIN),
}, init)

say('start an agent')
terminal.start({ vim.v.progpath, '-u', init, '-n', 'cart.go' }, { TERM = 'xterm-256color' })
terminal.see('package cart')
terminal.keys(':Agentls run @coder Write settings.<CR>')
terminal.see('coder: Write settings.')

say('it asks while the user types')
terminal.keys('ohello')
terminal.see('hello')
say('let the other go on')
terminal.see('waits for an answer: coder wants to write')
terminal.keys(' world')
terminal.see('hello world')
check(not terminal.screen():find('Allow once', 1, true), 'the menu came while the user typed:\n%s', terminal.screen())

say('normal mode')
terminal.keys('<Esc>')
terminal.see('Allow once')
say(terminal.screen())
-- The menu takes the key once its first moment is over.
e2e.wait('the answer to be taken', function()
  terminal.keys('4')
  return vim.wait(300, function()
    return not terminal.screen():find('Allow once', 1, true)
  end, 20)
end)
terminal.see('It is not to be.')
check(terminal.screen():find('hello world', 1, true), 'the text is gone:\n%s', terminal.screen())
say(terminal.screen())
-- The count goes, should the menu have taken the key before.
terminal.leave()
