-- The plugin from end to end: trust, a review, an agent with children, an ask, the tree, the review of what is
-- proposed, undo.

local check, say, wait = e2e.check, e2e.say, e2e.wait

-- What a user would do: answers by the editor's own menu, keys, and a look at what is on the screen.
local answers, asked = {}, {}
local builtin = vim.ui.select
vim.ui.select = function(items, options, on_choice)
  local wanted = answers[options.kind]
  table.insert(asked, options.kind .. ': ' .. options.prompt)
  say('  asked ' .. asked[#asked]:gsub('\n', ' / '))
  for _, item in ipairs(items) do
    local text = options.format_item and options.format_item(item) or item
    if wanted and text:find(wanted, 1, true) then
      say('    chose ' .. text)
      return vim.schedule(function()
        on_choice(item)
      end)
    end
  end
  vim.schedule(on_choice)
end
local notices = {}
vim.notify = function(text)
  table.insert(notices, text)
  say('  told ' .. text:gsub('\n', ' / '))
end
local function press(keys)
  vim.api.nvim_feedkeys(vim.api.nvim_replace_termcodes(keys, true, false, true), 'mx', false)
end
local function lines(buffer)
  return vim.api.nvim_buf_get_lines(buffer or 0, 0, -1, false)
end
local function text(buffer)
  return table.concat(lines(buffer), '\n')
end
local function named(pattern)
  for _, buffer in ipairs(vim.api.nvim_list_bufs()) do
    if vim.api.nvim_buf_get_name(buffer):find(pattern) then
      return buffer
    end
  end
end
-- shown is the text of each floating window.
local function floating()
  local found = {}
  for _, window in ipairs(vim.api.nvim_list_wins()) do
    if vim.api.nvim_win_get_config(window).relative ~= '' then
      table.insert(found, text(vim.api.nvim_win_get_buf(window)))
    end
  end
  return table.concat(found, '\n')
end
local function line_of(buffer, pattern)
  for number, line in ipairs(lines(buffer)) do
    if line:find(pattern, 1, true) then
      return number, line
    end
  end
end

say('nothing is loaded before it is used')
for name in pairs(package.loaded) do
  check(not vim.startswith(name, 'agentls'), '%s was loaded at the start', name)
end
local completions = vim.fn.getcompletion('Agentls re', 'cmdline')
check(vim.deep_equal(completions, { 'reject', 'remember', 'restart', 'review', 'rewind' }), 'completion offers %s', vim.inspect(completions))

say('set up, and open a file')
answers['agentls.message'] = 'Trust'
require('agentls').setup({ cmd = { vim.env.AGENTLS_BIN, 'serve' } })
check(require('agentls').statusline() == '', 'the status line speaks before there is anything to say')
vim.cmd.edit('cart.go')
local file = vim.api.nvim_get_current_buf()
vim.bo.filetype = 'go'
local original = text(file)
local client
wait('the server to be attached', function()
  client = vim.lsp.get_clients({ bufnr = file, name = 'agentls' })[1]
  return client and client.initialized
end)
local function notified(pattern)
  return vim.iter(notices):any(function(notice)
    return notice:find(pattern, 1, true)
  end)
end
vim.cmd('Agentls trust show')
wait('what acts in the folder, and that it is not trusted', function()
  return notified('is not trusted')
end)
check(#asked == 0, 'the user is asked before anything needs it: %s', vim.inspect(asked))

say('review the file')
vim.cmd('Agentls review')
wait('the question whether to trust the folder', function()
  return vim.iter(asked):any(function(question)
    return question:find('Trust it?', 1, true)
  end)
end)
wait('the folder to be trusted', function()
  vim.cmd('Agentls trust show')
  return vim.wait(500, function()
    return notified('is trusted')
  end, 20)
end)
-- What has ended stays in the corner for some seconds alone.
local corner = {}
local function cornered(title)
  corner[title] = corner[title] or floating():find(title, 1, true) ~= nil
  return corner[title]
end
wait('the finding, and the progress in the corner', function()
  local found = vim.iter(vim.diagnostic.get(file)):any(function(diagnostic)
    return diagnostic.message:find('the second is bad', 1, true)
  end)
  return cornered('review cart.go') and found
end)
say(floating())

say('its quick fix')
vim.api.nvim_win_set_cursor(0, { 7, 0 })
wait('the fix to be made', function()
  if not text(file):find('// second is good', 1, true) then
    vim.lsp.buf.code_action({
      apply = true,
      filter = function(action)
        return action.title:find('agentls: Fix this finding', 1, true) ~= nil
      end,
    })
    vim.wait(500, function()
      return text(file):find('// second is good', 1, true) ~= nil
    end, 20)
  end
  return text(file):find('// second is good', 1, true)
end)
local fixed = text(file)

say('an agent with children, which asks first')
answers['agentls.ask'] = 'Allow once'
vim.cmd('Agentls run @coder Share the work.')
wait('the ask, which names the agent', function()
  cornered('mend the rest')
  return vim.iter(asked):any(function(question)
    return question:find('agentls.ask: coder wants to write', 1, true)
      and question:find('.vscode/settings.json', 1, true)
  end)
end)
wait('both children in the corner', function()
  local both = cornered('look for ever')
  return cornered('mend the rest') and both
end)
say(floating())
wait('the status line to speak', function()
  return require('agentls').statusline() ~= ''
end)
say('  ' .. require('agentls').statusline())

say('the tree')
vim.cmd('Agentls tree')
local tree
wait('the children in the tree, and the end of one', function()
  tree = named('agentls://sessions')
  local _, done = line_of(tree or file, 'general  mend the rest')
  return done and done:find('✓', 1, true)
end)
wait('what is proposed', function()
  local _, line = line_of(tree, '± .vscode/settings.json')
  return line and line:find('1 open edit', 1, true)
end)
say(text(tree))
local root, root_line = line_of(tree, 'Share the work.')
local stuck, stuck_line = line_of(tree, 'explore  look for ever')
check(root_line:find('coder', 1, true) and root_line:find('▾', 1, true), 'the root is %q', root_line)
check(
  #stuck_line:match('^%s*') > #root_line:match('^%s*'), 'the child is not below the root: %q, %q', root_line, stuck_line
)
check(
  stuck_line:find('explore', 1, true) and stuck_line:find('%d:%d%d'), 'the child shows no agent or no time: %q',
  stuck_line
)

say('fold and unfold')
vim.api.nvim_win_set_cursor(0, { root, 0 })
press('za')
wait('the children to be hidden', function()
  return not line_of(tree, 'explore  look for ever')
end)
press('za')
wait('the children to be back', function()
  return line_of(tree, 'explore  look for ever')
end)

say('cancel one child')
vim.api.nvim_win_set_cursor(0, { stuck, 0 })
press('x')
wait('its end, and that of the root', function()
  local _, child = line_of(tree, 'explore  look for ever')
  local _, parent = line_of(tree, 'Share the work.')
  return child:find('cancelled', 1, true) and parent:find('✓', 1, true)
end)
say(text(tree))
wait('the answer to be shown', function()
  local answer = named('agentls://answer')
  return answer and text(answer):find('one mended the rest', 1, true)
end)

say('the transcript of the root')
vim.api.nvim_set_current_win(vim.fn.bufwinid(tree))
vim.api.nvim_win_set_cursor(0, { (line_of(tree, 'Share the work.')), 0 })
press('<CR>')
local transcript
wait('the transcript', function()
  transcript = named('agentls://transcript')
  return transcript and text(transcript):find('One looked in vain', 1, true)
end)
check(text(transcript):find('**task**', 1, true), 'the transcript has no calls:\n%s', text(transcript))
say(text(transcript))
vim.cmd.only()
vim.api.nvim_win_set_buf(0, file)

say('review what is proposed')
check(text(file) == fixed, 'the buffer changed before anything was accepted')
vim.cmd('Agentls proposals')
local proposed
wait('both texts side by side', function()
  proposed = named('agentls://proposed/cart.go')
  return proposed and vim.api.nvim_get_current_buf() == proposed
end)
check(
  text(proposed) == fixed:gsub('// first', '// first is better'):gsub('// third', '// third is better'),
  'the proposed text is\n%s', text(proposed)
)
check(vim.wo.diff, 'the windows show no difference')
local first = vim.api.nvim_win_get_cursor(0)[1]
check(
  lines(proposed)[first] == '// first is better', 'the cursor is not on the first hunk but on %q',
  lines(proposed)[first]
)
press('a')
wait('the first hunk in the file', function()
  return text(file):find('// first is better', 1, true)
end)
check(not text(file):find('// third is better', 1, true), 'the other hunk was accepted, too')
press(']h')
check(vim.api.nvim_get_current_line() == '// third is better', ']h leads to %q', vim.api.nvim_get_current_line())
press('r')
wait('the review to go on with the other file', function()
  local other = named('agentls://proposed/.vscode/settings.json')
  return other and vim.api.nvim_get_current_buf() == other and text(other) == '{}'
end)
check(not text(file):find('// third is better', 1, true), 'the rejected hunk is in the file')
press('R')
wait('the review to end', function()
  return notified('every proposed edit is decided') and #vim.api.nvim_list_tabpages() == 1
end)

say('undo')
vim.api.nvim_win_set_buf(0, file)
vim.cmd('Agentls undo')
wait('the accepted hunk to be taken back', function()
  return text(file) == fixed
end)

say('the menu of its own, where vim.ui.select is the built-in one')
local replaced = vim.ui.select
vim.ui.select = builtin
vim.cmd('Agentls')
wait('the menu', function()
  return vim.bo.filetype == 'agentls-menu'
end)
say(text())
check(
  vim.api.nvim_get_current_line():find('review', 1, true), 'the menu begins with %q', vim.api.nvim_get_current_line()
)
press('q')
check(vim.bo.filetype ~= 'agentls-menu', 'q does not close the menu')
vim.cmd('Agentls run')
wait('the agents', function()
  return vim.bo.filetype == 'agentls-menu' and text():find('poet', 1, true)
end)
say(text())
check(text():find('🪶 poet +Writes poems on code'), 'the agent is shown without its icon or description')
press('<Esc>')
vim.ui.select = replaced

say('review what has changed')
vim.cmd('Agentls changes base')
wait('the question for a base', function()
  return notified('say which one, as in :Agentls changes base main')
end)
vim.cmd('Agentls changes')
wait('the refusal without a repository', function()
  return notified('lies in no git repository')
end)
vim.fn.system({ 'git', 'init', '-q' })
check(vim.v.shell_error == 0, 'git init failed')
vim.cmd('Agentls changes')
wait('the review of the changes', function()
  return cornered('review the uncommitted changes')
end)

say('go back to before a prompt')
answers['agentls.rewind'] = 'Go back'
vim.cmd('Agentls tree')
wait('the tree to be shown again', function()
  return vim.api.nvim_get_current_buf() == tree and line_of(tree, 'Share the work.')
end)
vim.api.nvim_win_set_cursor(0, { (line_of(tree, 'Share the work.')), 0 })
press('U')
wait('the run to be gone back behind', function()
  return notified('went back to before "Share the work."')
end)
press('B')
wait('what came of the run to be brought back, or nothing to be there', function()
  return notified('brought back what came of "Share the work."') or notified('was gone back behind')
end)
vim.cmd.close()

say('usage, and the health check')
vim.cmd('Agentls usage')
wait('the usage by agent', function()
  local usage = named('agentls://usage')
  return usage and text(usage):find('explore', 1, true) and text(usage):find('total', 1, true)
end)
say(text(named('agentls://usage')))
vim.cmd.close()
vim.cmd('checkhealth agentls')
local health = text()
check(health:find('It runs for', 1, true) and not health:find('ERROR', 1, true), 'the health check says\n%s', health)

say('stop the server')
vim.cmd.tabonly()
if vim.lsp.config then
  vim.lsp.enable('agentls', false)
else
  vim.lsp.stop_client(client.id)
end
wait('the server to be gone', function()
  return not vim.lsp.get_client_by_id(client.id)
end)
for _, notice in ipairs(notices) do
  check(not notice:find('traceback', 1, true), 'an error was shown:\n%s', notice)
end
