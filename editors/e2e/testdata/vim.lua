-- Vim with ALE, as editors/README.md sets it up: review, diagnostics, an edit accepted. ALE shows no progress.

local check, say = e2e.check, e2e.say
local terminal = dofile(vim.fs.joinpath(vim.fs.dirname(vim.env.AGENTLS_E2E_STORY), 'terminal.lua'))

local vimrc = vim.fs.joinpath(vim.env.HOME, 'vimrc')
vim.fn.writefile({
  'set nocompatible noswapfile shortmess+=I',
  'let &runtimepath = $AGENTLS_ALE . "," . &runtimepath',
  'filetype plugin on',
  "let g:ale_linters = {'go': ['agentls']}",
  'let g:ale_virtualtext_cursor = 2',
  "call ale#linter#Define('go', {",
  "\\ 'name': 'agentls',",
  "\\ 'lsp': 'stdio',",
  "\\ 'executable': $AGENTLS_BIN,",
  "\\ 'command': '%e serve',",
  "\\ 'project_root': {_ -> getcwd()},",
  '\\ })',
}, vimrc)

-- choose opens ALE's list of code actions on a line, and types the number of the entry with this title.
local function choose(line, title)
  terminal.insist((':%d|ALECodeAction<CR>'):format(line), title)
  local number = terminal.screen():match('(%d+)[^\n]*' .. vim.pesc(title))
  check(number, 'the list has no number for it:\n%s', terminal.screen())
  terminal.keys(number .. '<CR>')
  say('  chose ' .. number .. ', ' .. title)
end

say('open the file')
terminal.start({ vim.env.AGENTLS_VIM, '-N', '-u', vimrc, 'cart.go' }, { TERM = 'xterm-256color' })
terminal.see('package cart')

say('review it')
choose(1, 'agentls: Review this file')
terminal.see('the second is bad')
say(terminal.screen())

say('accept the edit')
choose(7, 'agentls: Fix this finding: the second is bad')
terminal.see('// second is good')
terminal.see('the second is bad', 0)

say('save, and leave')
terminal.keys(':wq<CR>')
terminal.finish()
local text = table.concat(vim.fn.readfile('cart.go'), '\n')
check(text:find('\n// second is good\nfunc Second', 1, true), 'the saved file is\n%s', text)
