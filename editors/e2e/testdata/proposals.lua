-- Proposed edits from end to end: accepted, rejected, undone by the editor and by agentls, in conflict, and back after
-- a crash.

local check, say = e2e.check, e2e.say
local s = dofile(vim.fs.joinpath(vim.fs.dirname(vim.env.AGENTLS_E2E_STORY), 'session.lua'))

local function disk(name)
  local file = assert(io.open(vim.fs.joinpath(vim.fn.getcwd(), name), 'rb'))
  local text = file:read('*a')
  file:close()
  return text
end

vim.cmd.edit('cart.go')
s.start(vim.api.nvim_get_current_buf())
local original = s.text()

say('three edits are proposed')
s.agent('Improve the comments.')
s.wait_hints(3)
check(s.text() == original, 'the buffer changed before anything was accepted')
for _, hint in ipairs(s.hints()) do
  check(hint.severity == vim.diagnostic.severity.HINT, 'a proposal is no hint: %s', vim.inspect(hint))
end

say('accept the first, and take it back with one u')
s.menu(s.line('// first'), 'agentls: Accept this edit')
s.wait('the first edit', function()
  return s.text():find('// first is better', 1, true)
end)
s.wait_hints(2)
vim.cmd.undo()
check(s.text() == original, 'one u does not undo the accepted edit:\n%s', s.text())
vim.cmd.redo()
check(s.text():find('// first is better', 1, true), 'redo does not bring it back')

say('reject the second')
s.menu(s.line('// second'), 'agentls: Reject this edit')
s.wait_hints(1)
check(s.text():find('// second\n', 1, true), 'the rejected edit is in the buffer:\n%s', s.text())

say('type over the lines of the third')
local third = s.line('// third')
vim.api.nvim_buf_set_lines(s.buffer, third, third + 1, false, { '// third, as I like it' })
s.wait('the conflict to be shown', function()
  local hint = s.hints()[1]
  return hint and hint.message:find('conflict with the proposed edit of coder', 1, true)
end)
say('  ' .. s.hints()[1].message)
local window = vim.api.nvim_get_current_win()
s.menu(third, 'agentls: Show both sides of this conflict')
local shown
s.wait('both sides to be shown', function()
  for _, buffer in ipairs(vim.api.nvim_list_bufs()) do
    if vim.api.nvim_buf_get_name(buffer):find('%.diff$') and s.text(buffer):find('<<<<<<<', 1, true) then
      shown = buffer
      return true
    end
  end
end)
check(
  s.text(shown):find(
    '// third, as I like it\n||||||| what coder had seen\n// third\n=======\n// third is better', 1, true
  ),
  'it shows:\n%s', s.text(shown)
)
check(
  vim.fn.filewritable(vim.api.nvim_buf_get_name(shown)) == 0 or vim.bo[shown].readonly, 'the document can be written'
)
if vim.api.nvim_get_current_win() ~= window then
  vim.cmd.close()
end
vim.api.nvim_set_current_win(window)
vim.api.nvim_win_set_buf(window, s.buffer)
s.menu(third, 'agentls: Keep these lines and reject the edit of coder')
s.wait_hints(0)
check(s.text():find('// third, as I like it', 1, true), "the user's text is gone:\n%s", s.text())

say('accept, save, and undo by agentls')
s.agent('Improve the names.')
s.wait_hints(2)
s.menu(s.line('func First'), 'agentls: Accept all edits in this file (2)')
s.wait('both edits', function()
  return s.text():find('func FirstOne', 1, true) and s.text():find('func ThirdOne', 1, true)
end)
vim.cmd.write()
local saved = disk('cart.go')
check(saved == s.text(), 'the file is not what was saved')
local second = s.line('func Second')
vim.api.nvim_buf_set_lines(s.buffer, second, second, false, { '// my own line' })
s.menu(s.line('func FirstOne'), 'agentls: Undo this edit of coder')
s.wait('the first name to be back', function()
  return s.text():find('func First()', 1, true)
end)
check(s.text():find('func ThirdOne', 1, true), 'the other edit is undone, too:\n%s', s.text())
check(s.text():find('// my own line', 1, true), "the user's line is gone:\n%s", s.text())
check(disk('cart.go') == saved, 'the server wrote the file')

say('a crash with hunks open')
s.agent('Add a total.')
s.wait_hints(2)
s.kill()
s.start(s.buffer)
s.wait_hints(2)
local offered = s.menu(s.line('func ThirdOne'))
check(
  vim.list_contains(offered, 'agentls: 1 proposed edit in 1 other file…'), 'the other file is no entry of %s',
  vim.inspect(offered)
)
for _, title in ipairs(offered) do
  check(not title:find('total.txt', 1, true), 'what belongs to another file is in the menu: %s', vim.inspect(offered))
end
s.menu(s.line('func ThirdOne'), 'agentls: Accept all edits (2 in 2 files)')
s.wait('the edits of before the crash', function()
  return s.text():find('func Total', 1, true)
end)
local total = vim.fn.bufnr('total.txt')
check(total > 0 and s.text(total) == 'the total\n', 'the new file is not there: %s', total > 0 and s.text(total))
s.wait_hints(0)

say('undo what was accepted before the crash')
s.menu(s.line('func ThirdOne'), 'agentls: Undo this edit of coder')
s.wait('the third name to be back', function()
  return s.text():find('func Third()', 1, true)
end)

say('a rename')
vim.cmd.write()
s.agent('Give the file another name.')
s.wait_hints(2)
s.menu(0, 'agentls: Accept all edits in this file (2)')
s.wait('the file to have its new name', function()
  return vim.fn.bufname(s.buffer):find('shop/basket.go', 1, true) and s.text():find('package basket', 1, true)
end)
check(not vim.uv.fs_stat('cart.go') and vim.uv.fs_stat('shop/basket.go'), 'the file was not renamed on disk')
s.wait_hints(0)
check(s.text():find('func Total', 1, true), 'the rest of the text is gone:\n%s', s.text())

say('stop the server')
s.stop()
