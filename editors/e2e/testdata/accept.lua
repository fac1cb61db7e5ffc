-- An accepted edit shows at once, on a screen of 80 columns: no message waits for a key before it, with the plugin or
-- without.

local check, say = e2e.check, e2e.say
local terminal = dofile(vim.fs.joinpath(vim.fs.dirname(vim.env.AGENTLS_E2E_STORY), 'terminal.lua'))

local plugin = vim.fs.dirname(vim.fs.dirname(vim.api.nvim_get_runtime_file('plugin/agentls.lua', false)[1]))

-- edit starts the editor with a configuration.
local function edit(configuration)
  local init = vim.fs.joinpath(vim.env.HOME, 'init.lua')
  vim.fn.writefile(configuration, init)
  terminal.start({ vim.v.progpath, '-u', init, '-n', 'cart.go' }, { TERM = 'xterm-256color' }, 80)
  terminal.see('package cart')
end

-- accepted waits until a text is so often on the screen, while nothing asks for a key.
local function accepted(text, times)
  e2e.wait('the accepted edit on the screen', function()
    local screen = terminal.screen()
    check(not screen:find('Press ENTER', 1, true), 'the editor waits for a key:\n%s', screen)
    return select(2, screen:gsub(vim.pesc(text), '')) == times
  end)
  say(terminal.screen())
end

say('with the plugin')
edit({
  ('vim.opt.runtimepath:prepend(%q)'):format(plugin),
  ('require("agentls").setup({ cmd = { %q, "serve" }, answers = false })'):format(vim.env.AGENTLS_BIN),
})
terminal.keys(':Agentls run @coder Improve the comments.<CR>')
terminal.see('coder completed')
terminal.keys(':Agentls proposals<CR>')
terminal.see('proposed · 2 edits')
terminal.keys('a')
accepted('// first is better', 2)
terminal.see('proposed · 1 edit')
terminal.leave()

say('without it: what was accepted and not saved is proposed again')
edit({
  ('local server = { name = "agentls", cmd = { %q, "serve" } }'):format(vim.env.AGENTLS_BIN),
  'vim.api.nvim_create_autocmd("FileType", { pattern = "go", callback = function()',
  '  vim.lsp.start(vim.tbl_extend("force", server, { root_dir = vim.fn.getcwd() }))',
  'end })',
  'function _G.accept()',
  '  vim.lsp.buf.code_action({ apply = true, filter = function(action)',
  '    return action.title:find("agentls: Accept this edit", 1, true) ~= nil',
  '  end })',
  'end',
  'vim.diagnostic.config({ virtual_text = true })',
})
terminal.see('proposed edit by coder')
terminal.keys(':3<CR>:lua accept()<CR>')
accepted('coder: // first is better', 0) -- the diagnostic is gone
terminal.leave()
