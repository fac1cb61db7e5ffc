-- A conversation in Neovim without the plugin: by code actions alone.

local say = e2e.say
local here = vim.fs.dirname(vim.env.AGENTLS_E2E_STORY)
local talk, terminal = dofile(vim.fs.joinpath(here, 'talk.lua')), dofile(vim.fs.joinpath(here, 'terminal.lua'))
local keys, see = terminal.keys, terminal.see

local init = vim.fs.joinpath(vim.env.HOME, 'init.lua')
vim.fn.writefile({
  ('local server = { name = "agentls", cmd = { %q, "serve" } }'):format(vim.env.AGENTLS_BIN),
  'vim.api.nvim_create_autocmd("FileType", { pattern = { "go", "markdown" }, callback = function()',
  '  vim.lsp.start(vim.tbl_extend("force", server, { root_dir = vim.fn.getcwd() }))',
  'end })',
  'function _G.act(title)',
  '  vim.lsp.buf.code_action({ apply = true, filter = function(action)',
  '    return action.title:find("agentls: " .. title, 1, true) ~= nil',
  '  end })',
  'end',
  -- Before each edit of the server's, the user has typed something that the server was not told yet.
  'local apply = vim.lsp.handlers["workspace/applyEdit"]',
  'vim.lsp.handlers["workspace/applyEdit"] = function(...)',
  '  vim.api.nvim_buf_set_lines(0, -1, -1, false, { "x" })',
  '  vim.api.nvim_buf_set_lines(0, -2, -1, false, {})',
  '  return apply(...)',
  'end',
  'function _G.open()',
  '  vim.wait(60000, function() return vim.lsp.get_clients()[1] end, 10)',
  '  local request = { command = "agentls.conversation", arguments = { vim.empty_dict() } }',
  '  vim.lsp.buf_request(0, "workspace/executeCommand", request, function(fault)',
  '    if fault then error(vim.inspect(fault)) end',
  '  end)',
  'end',
}, init)

say('open a conversation')
terminal.start({ vim.v.progpath, '-u', init, 'cart.go' }, { TERM = 'xterm-256color' })
see('package cart')
keys(':lua open()<CR>')

talk.play(terminal, {
  prompt = function(first)
    keys(first and '<Esc>GA' or '<Esc>Go')
  end,
  send = function(prompt)
    -- What is answered is below the cursor. The actions are asked for first: what is typed until they are there would be
    -- sent, too.
    keys('<Esc>zt:lua act("Send")<CR>')
    terminal.match(vim.pesc(prompt) .. '.-## coder.-## You')
  end,
  back = function()
    keys('/You asked for<CR>:lua act("Go back")<CR>')
  end,
  accept = function()
    keys('<Esc>/It is a sentence<CR>:lua act("Accept 1 edit")<CR>')
  end,
  file = function()
    keys(':b cart.go<CR>')
  end,
  save = function()
    keys('<Esc>:silent wa<CR>')
  end,
})
terminal.leave()
