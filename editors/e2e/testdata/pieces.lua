-- The plugin without setup(): hunks accepted and rejected in the file itself, a question that is closed and asked
-- again, a permission taken back, and a run that is steered, stopped and resumed from the tree.

local check, say, wait = e2e.check, e2e.say, e2e.wait

local answers, asked, notices = {}, {}, {}
vim.ui.select = function(items, options, on_choice)
  table.insert(asked, options.kind .. ': ' .. options.prompt)
  say('  asked ' .. asked[#asked]:gsub('\n', ' / '))
  for _, item in ipairs(items) do
    local text = options.format_item and options.format_item(item) or item
    if answers[options.kind] and text:find(answers[options.kind], 1, true) then
      say('    chose ' .. text)
      return vim.schedule(function()
        on_choice(item)
      end)
    end
  end
  vim.schedule(on_choice)
end
vim.ui.input = function(options, on_confirm)
  say('  asked for ' .. options.prompt)
  vim.schedule(function()
    on_confirm(answers.input)
  end)
end
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
local function line_of(buffer, pattern)
  for number, line in ipairs(vim.api.nvim_buf_get_lines(buffer, 0, -1, false)) do
    if line:find(pattern, 1, true) then
      return number, line
    end
  end
end

vim.cmd.edit('cart.go')
vim.bo.filetype = 'go'
local file = vim.api.nvim_get_current_buf()
-- The first command starts the server; from 0.11 on as the user's own configuration says.
if vim.lsp.config then
  vim.lsp.config('agentls', { cmd = { vim.env.AGENTLS_BIN, 'serve' } })
else
  require('agentls.options').set({ cmd = { vim.env.AGENTLS_BIN, 'serve' } })
end
check(#vim.lsp.get_clients() == 0, 'a server runs before it is used')

say('three hunks')
vim.cmd('Agentls run Improve the comments.')
wait('the end of the run', function()
  local answer = named('agentls://answer')
  return answer and text(answer):find('The comments are better', 1, true)
end)
local function hints()
  return #vim.tbl_filter(function(diagnostic)
    return diagnostic.code == 'proposal'
  end, vim.diagnostic.get(file))
end
wait('its hints', function()
  return hints() == 3
end)
for _, line in ipairs({ 3, 7, 11 }) do
  vim.cmd('Agentls next')
  wait('the cursor on line ' .. line, function()
    return vim.api.nvim_win_get_cursor(0)[1] == line
  end)
end
vim.cmd('Agentls previous')
wait('the cursor on line 7 again', function()
  return vim.api.nvim_win_get_cursor(0)[1] == 7
end)
vim.cmd('Agentls accept')
wait('the second hunk in the file', function()
  return text(file):find('// second is better', 1, true) and not text(file):find('// first is better', 1, true)
end)
vim.cmd('1,5Agentls reject')
wait('one hint left', function()
  return hints() == 1
end)
vim.cmd('Agentls accept all')
wait('the third hunk in the file, without the first', function()
  return text(file):find('// third is better', 1, true) and not text(file):find('// first is better', 1, true)
end)
vim.cmd('Agentls accept')
wait('to be told that nothing is left', function()
  return notified('no edit is proposed for this line')
end)

say('a question that is closed, and asked again')
vim.cmd('Agentls run @coder Write settings.')
wait('the question', function()
  return vim.iter(asked):any(function(question)
    return question:find('agentls.ask: coder', 1, true)
  end)
end)
answers['agentls.ask'] = 'Always allow'
wait('the answer to be taken', function()
  vim.cmd('Agentls asks')
  return vim.wait(500, function()
    return notified('there is no open question')
  end, 20)
end)
wait('the run to end', function()
  return vim.iter(vim.api.nvim_list_bufs()):any(function(buffer)
    return text(buffer) == 'Written.'
  end)
end)

say('take the permission back')
answers['agentls.list'] = 'settings.json'
vim.cmd('Agentls grants')
wait('it to be taken back', function()
  return notified('is taken back')
end)
vim.cmd('Agentls grants')
wait('none to be left', function()
  return notified('no permission is remembered')
end)

say('steer, stop and resume in the tree')
vim.cmd('Agentls run Take your time.')
vim.cmd('Agentls tree')
local tree
wait('the run in the tree', function()
  tree = named('agentls://sessions')
  return tree and vim.api.nvim_get_current_buf() == tree and line_of(tree, 'Take your time.')
end)
vim.api.nvim_win_set_cursor(0, { (line_of(tree, 'Take your time.')), 0 })
answers.input = 'Hurry.'
press('s')
wait('it to be told', function()
  return notified('is told so at its next turn')
end)
vim.cmd('Agentls! stop')
wait('it to be cancelled', function()
  return select(2, line_of(tree, 'Take your time.')):find('cancelled', 1, true)
end)
say('let the other go on')
vim.api.nvim_set_current_win(vim.fn.bufwinid(tree))
vim.api.nvim_win_set_cursor(0, { (line_of(tree, 'Take your time.')), 0 })
answers.input = 'Now.'
press('r')
local ok, fault = pcall(wait, 'the run that goes on with it', function()
  local _, line = line_of(tree, 'Now.')
  return line and line:find('✓', 1, true)
end)
check(ok, '%s\nthe tree:\n%s', fault, text(tree))
say(text(tree))

say('start the server again')
local client = require('agentls.client').find()
vim.cmd('Agentls restart')
wait('another one', function()
  local now = vim.lsp.get_clients({ name = 'agentls' })[1]
  return now and now.id ~= client.id and now.initialized
end)
check(not vim.api.nvim_buf_is_valid(tree), 'the tree of the server that has ended is still there')
vim.cmd('Agentls tree')
wait('its tree, with the session of before', function()
  return vim.bo.filetype == 'agentls-tree' and line_of(0, 'Improve the comments')
end)
say(text())
vim.api.nvim_win_set_cursor(0, { (line_of(0, 'Improve the comments')), 0 })
press('zo')
wait('its runs', function()
  return line_of(0, 'Take your time.')
end)
for _, notice in ipairs(notices) do
  check(not notice:find('traceback', 1, true), 'an error was shown:\n%s', notice)
end

say('stop the server')
local last = vim.lsp.get_clients({ name = 'agentls' })[1]
vim.lsp.stop_client(last.id)
wait('the server to be gone', function()
  return not vim.lsp.get_client_by_id(last.id)
end)
