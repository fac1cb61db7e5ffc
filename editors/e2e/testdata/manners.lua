-- What the plugin leaves to its user: his own keys come back, lines that he typed over are taken only when he says so,
-- and a menu of his that fails costs him no question. And what a command line offers, takes, and a health check says.

local check, say, wait = e2e.check, e2e.say, e2e.wait

local notices = {}
vim.notify = function(text)
  table.insert(notices, text)
  say('  told ' .. text:gsub('\n', ' / '))
end
local function notified(pattern)
  return vim.iter(notices):any(function(notice)
    return notice:find(pattern, 1, true)
  end)
end
local function press(keys)
  vim.api.nvim_feedkeys(vim.api.nvim_replace_termcodes(keys, true, false, true), 'mx', false)
end
local function text(buffer)
  return table.concat(vim.api.nvim_buf_get_lines(buffer or 0, 0, -1, false), '\n')
end
local function named(pattern)
  for _, buffer in ipairs(vim.api.nvim_list_bufs()) do
    if vim.api.nvim_buf_get_name(buffer):find(pattern) then
      return buffer
    end
  end
end
local function map_of(buffer, key)
  return vim.api.nvim_buf_call(buffer, function()
    local map = vim.fn.maparg(key, 'n', false, true)
    map.lnum, map.sid = nil, nil
    return map
  end)
end

-- A server whose health check is as good as its word: the answer of the real one, with an outcome of each kind.
local program = vim.fs.joinpath(vim.env.HOME, 'server') -- the recorder of the traffic is the file agentls there
local answer = vim.json.encode({ checks = {
  { name = 'one', outcome = 'ok', detail = 'is well' },
  { name = 'two', outcome = 'warning', detail = 'is odd', hint = 'look at it' },
  { name = 'three', outcome = 'failed', detail = 'is broken', hint = 'mend it' },
} })
vim.fn.writefile({
  '#!/bin/sh',
  ("if [ \"$1\" = doctor ] && [ -e '%s.sick' ]; then printf '%%s' '%s'; exit 1; fi"):format(program, answer),
  ("exec '%s' \"$@\""):format(vim.env.AGENTLS_BIN),
}, program)
check(vim.uv.fs_chmod(program, 493), 'the program cannot be made one')

vim.cmd.edit('cart.go')
vim.bo.filetype = 'go'
local file = vim.api.nvim_get_current_buf()
if vim.lsp.config then
  vim.lsp.config('agentls', { cmd = { program, 'serve' } })
else
  require('agentls.options').set({ cmd = { program, 'serve' } })
end

say('agents are completed before anything was asked')
check(#vim.lsp.get_clients() == 0, 'a server runs before it is used')
-- The first completion starts the server. On a busy machine that takes longer than it may keep the user waiting.
local completions
for _ = 1, 100 do
  completions = vim.fn.getcompletion('Agentls run @', 'cmdline')
  if vim.list_contains(completions, '@coder') then
    break
  end
end
check(vim.list_contains(completions, '@coder'), 'completion offers %s', vim.inspect(completions))
check(
  vim.deep_equal(vim.fn.getcompletion('Agentls run @cod', 'cmdline'), { '@coder' }), 'completion ignores what was typed'
)

say('edits are proposed, and one is typed over')
vim.cmd('Agentls run @coder Improve the comments.')
wait('the end of the run', function()
  local buffer = named('agentls://answer')
  return buffer and text(buffer):find('The comments are better', 1, true)
end)
local third = vim.fn.search('// third', 'nw')
vim.api.nvim_buf_set_lines(file, third - 1, third, false, { '// third, as I like it' })
wait('the conflict', function()
  return vim.iter(vim.diagnostic.get(file)):any(function(diagnostic)
    return diagnostic.message:find('conflict', 1, true)
  end)
end)

say('the review shows it, and takes it')
local pressed = 0
vim.keymap.set('n', ']h', function()
  pressed = pressed + 1
end, { buffer = file, desc = 'mine' })
vim.keymap.set('n', '[h', "'<Ignore>'", { buffer = file, expr = true, silent = true, nowait = true })
local mine = { map_of(file, ']h'), map_of(file, '[h') }
vim.cmd('Agentls proposals')
local proposed
wait('both texts side by side', function()
  proposed = named('agentls://proposed/cart.go')
  return proposed and vim.api.nvim_get_current_buf() == proposed
end)
check(
  map_of(file, ']h').desc == 'To the next edit', 'the key of the review is not there: %s',
  vim.inspect(map_of(file, ']h'))
)
check(
  text(proposed):find('// third is better', 1, true), "the agent's side of the conflict is not shown:\n%s",
  text(proposed)
)
press(']h')
check(vim.api.nvim_get_current_line() == '// third is better', ']h leads to %q', vim.api.nvim_get_current_line())
press('a')
wait("the agent's lines in the file", function()
  return text(file):find('// third is better', 1, true)
end)
check(not text(file):find('as I like it', 1, true), 'both sides are in the file:\n%s', text(file))
check(text(file):find('// first\n', 1, true), 'the other edit was accepted, too')

say("the user's own keys come back, also where he closes the window himself")
vim.cmd.quit()
wait('the review to be gone', function()
  return #vim.api.nvim_list_tabpages() == 1
end)
for i, key in ipairs({ ']h', '[h' }) do
  check(
    vim.deep_equal(map_of(file, key), mine[i]), '%s is now\n%s\nand was\n%s', key, vim.inspect(map_of(file, key)),
    vim.inspect(mine[i])
  )
end
vim.api.nvim_win_set_buf(0, file)
press(']h')
check(pressed == 1, "the user's own mapping does nothing any more")
vim.keymap.del('n', '[h', { buffer = file })
vim.cmd('Agentls proposals')
wait('the review again', function()
  return vim.api.nvim_buf_get_name(0):find('agentls://proposed/cart.go', 1, true)
end)
press('r')
wait('the review to end', function()
  return notified('every proposed edit is decided') and #vim.api.nvim_list_tabpages() == 1
end)
check(vim.deep_equal(map_of(file, ']h'), mine[1]), ']h is now %s', vim.inspect(map_of(file, ']h')))
check(vim.tbl_isempty(map_of(file, '[h')), 'the review left its key behind: %s', vim.inspect(map_of(file, '[h')))

say('a menu that fails leaves the question to the own one')
local builtin = vim.ui.select
vim.ui.select = function()
  error('this menu is broken')
end
vim.cmd('Agentls run @coder Write settings.')
wait('the own menu', function()
  return vim.bo.filetype == 'agentls-menu' and text():find('Allow once', 1, true)
end)
check(notified('this menu is broken'), 'nobody said why')
-- The menu takes the key once its first moment is over.
wait('the answer to be taken', function()
  press('1')
  return vim.wait(300, function()
    return vim.bo.filetype ~= 'agentls-menu'
  end, 20)
end)
wait('the run to end', function()
  return vim.iter(vim.api.nvim_list_bufs()):any(function(buffer)
    return text(buffer) == 'Written.'
  end)
end)
say('and one that fails later is not waited for')
vim.ui.select = builtin
local prompts, ui = require('agentls.prompts'), require('agentls.ui')
local select = ui.select
ui.select = function()
  error('everything is broken')
end
local asked = {}
for _, question in ipairs({ 'first', 'second' }) do
  coroutine.wrap(function()
    local ok = pcall(prompts.choose, { 'yes' }, { prompt = question, kind = 'agentls.ask' })
    table.insert(asked, question .. ' ' .. tostring(ok))
    ui.select = select
  end)()
end
wait('the second question to come', function()
  return vim.bo.filetype == 'agentls-menu' and text():find('yes', 1, true)
end)
wait('its answer', function()
  press('1')
  return #asked == 2 or vim.wait(300, function()
    return #asked == 2
  end, 20)
end)
check(vim.deep_equal(asked, { 'first false', 'second true' }), 'the answers are %s', vim.inspect(asked))

say('stop!')
vim.cmd('Agentls run Take your time.')
vim.cmd('Agentls run Take your time.')
local live = require('agentls.live')
local client = vim.lsp.get_clients({ name = 'agentls' })[1]
wait('two runs', function()
  return #live.active(client.id) == 2
end)
vim.cmd('Agentls stop!')
wait('both to be stopped', function()
  return #live.active(client.id) == 0
end)

say('the health check of a server that is not well')
vim.fn.writefile({}, program .. '.sick')
vim.cmd('checkhealth agentls')
local health = text()
say(health)
check(health:find('OK one: is well', 1, true), 'what is well is not said:\n%s', health)
check(
  health:find('WARNING two: is odd', 1, true) and health:find('look at it', 1, true), 'the warning is missing:\n%s',
  health
)
check(
  health:find('ERROR three: is broken', 1, true) and health:find('mend it', 1, true),
  'the failed check is not shown as one:\n%s', health
)

say('stop the server')
for _, notice in ipairs(notices) do
  check(not notice:find('traceback', 1, true), 'an error was shown:\n%s', notice)
end
vim.cmd.tabonly()
vim.lsp.stop_client(client.id)
wait('the server to be gone', function()
  return not vim.lsp.get_client_by_id(client.id)
end)
