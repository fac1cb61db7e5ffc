-- A conversation with the plugin, on a screen: the user goes on typing where the next prompt is, and each step back is
-- to a text that was there. Then he goes on from the tree.

local check, say = e2e.check, e2e.say
local here = vim.fs.dirname(vim.env.AGENTLS_E2E_STORY)
local talk, terminal = dofile(vim.fs.joinpath(here, 'talk.lua')), dofile(vim.fs.joinpath(here, 'terminal.lua'))
local keys, see = terminal.keys, terminal.see

local plugin = vim.fs.dirname(vim.fs.dirname(vim.api.nvim_get_runtime_file('plugin/agentls.lua', false)[1]))
local init, judged = vim.fs.joinpath(vim.env.HOME, 'init.lua'), vim.fs.joinpath(vim.env.HOME, 'judged')
vim.fn.writefile({
  ('vim.opt.runtimepath:prepend(%q)'):format(plugin),
  ('require("agentls").setup({ cmd = { %q, "serve" }, progress = false })'):format(vim.env.AGENTLS_BIN),
  'vim.keymap.set({ "n", "i" }, "<C-s>", "<Plug>(agentls-send)")',
  'function _G.accept()',
  '  vim.lsp.buf.code_action({ apply = true, filter = function(action)',
  '    return action.title:find("agentls: Accept 1 edit", 1, true) ~= nil',
  '  end })',
  'end',
  -- Every text that there was, so that steps back can be judged.
  'local texts = {}',
  'local function text()',
  '  return table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false), "\\n")',
  'end',
  'vim.api.nvim_create_autocmd("BufReadPost", { pattern = "*.agentls.md", callback = function(event)',
  '  local function note(_, buffer)',
  '    texts[vim.api.nvim_buf_call(buffer, text)] = true',
  '  end',
  '  note(nil, event.buf)',
  '  vim.api.nvim_buf_attach(event.buf, false, { on_lines = note })',
  'end })',
  'function _G.judge()',
  '  local tick, steps, odd = -1, 0, {}',
  '  local known = vim.deepcopy(texts)',
  '  while tick ~= vim.b.changedtick do',
  '    tick = vim.b.changedtick',
  '    vim.cmd("silent undo")',
  '    steps = steps + 1',
  '    if not known[text()] then',
  '      table.insert(odd, ("\\n-- %d steps back:\\n%s"):format(steps, text()))',
  '    end',
  '  end',
  '  table.insert(odd, ("\\n%d servers, the first text has %d lines"):format(#vim.lsp.get_clients(), vim.fn.line("$")))',
  ('  vim.fn.writefile(vim.split(table.concat(odd), "\\n"), %q)'):format(judged),
  'end',
}, init)

say('open a conversation')
terminal.start({ vim.v.progpath, '-u', init, 'cart.go' }, { TERM = 'xterm-256color' })
see('package cart')
keys(':Agentls conv<Tab><CR>')

local inserting = false
talk.play(terminal, {
  prompt = function(first)
    if not inserting then
      keys(first and 'GA' or 'Go')
      inserting = true
    end
  end,
  send = function()
    keys('<C-s>')
  end,
  -- What was typed last goes, and nothing else.
  undo = function()
    keys('<Esc>u')
    see('for first?', 0)
    see('Il y en a trois.')
    see('What did I ask')
    keys('<C-r>')
    see('What did I ask for first?')
    inserting = false
  end,
  back = function()
    keys(':Agentls rewind<CR>')
    see('Go back to before "What did I ask for first?"?')
    -- The menu takes the key once its first moment is over.
    e2e.wait('the answer to be taken', function()
      keys('1')
      return vim.wait(300, function()
        return not terminal.screen():find('Go back to before', 1, true)
      end, 20)
    end)
    keys('<Esc>')
  end,
  accept = function()
    keys('<Esc>/It is a sentence<CR>:lua accept()<CR>')
  end,
  file = function()
    keys(':b cart.go<CR>')
  end,
  save = function()
    keys('<Esc>:silent wa<CR>')
    inserting = false
  end,
})

say('go on from the tree')
keys(':Agentls tree<CR>')
see('this window')
keys('/What did I ask<CR>c')
see('conversations/r')
see('this window') -- the tree has kept its window
see('A sentence, then a number.')
say(terminal.screen())

say('step back to the beginning')
keys('<C-w>k:b conversations/2<CR>:lua judge()<CR>')
e2e.wait('the steps back', function()
  return vim.fn.getfsize(judged) > 0
end)
local told = table.concat(vim.fn.readfile(judged), '\n')
check(told == '\n1 servers, the first text has 4 lines', 'the steps back:%s', told)
terminal.leave()
