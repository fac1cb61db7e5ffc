-- Helix without a plugin, as editors/README.md sets it up: review, progress, diagnostics, an edit accepted.

local check, say = e2e.check, e2e.say
local helix = dofile(vim.fs.joinpath(vim.fs.dirname(vim.env.AGENTLS_E2E_STORY), 'helix-keys.lua'))
local terminal = helix.terminal

say('open the file')
helix.start('cart.go', { 'go' })
terminal.see('package cart')

say('review it')
helix.command('agentls.review')
terminal.see('reviewer completed')
terminal.see('the second is bad')
say(terminal.screen())
check(not terminal.screen():find('is good\n', 1, true), 'the text has changed before anything was accepted')

say('accept the edit')
terminal.keys('7ggx')
helix.choose('Fix this finding: the second is bad')
terminal.see('// second is good')
terminal.see('the second is bad', 0)

say('save, and leave')
terminal.keys(':wq<CR>')
terminal.finish()
local text = table.concat(vim.fn.readfile('cart.go'), '\n')
check(text:find('\n// second is good\nfunc Second', 1, true), 'the saved file is\n%s', text)
