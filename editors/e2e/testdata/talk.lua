-- What stories about conversations share: three prompts, of which the second is corrected while its answer streams and
-- the third refers to the first; the user types meanwhile; then he goes back, asks again, and accepts an edit.

local check, say = e2e.check, e2e.say
local M = { folder = vim.fs.joinpath(vim.env.XDG_STATE_HOME, 'agentls', 'conversations') }

-- lines_of are those of a file; none while an editor puts another in its place.
local function lines_of(file)
  local ok, lines = pcall(vim.fn.readfile, file)
  return ok and lines or {}
end

-- read is the conversation as it was saved, without its title and blank lines; the runs become numbers.
local function read()
  local files = vim.fn.glob(M.folder .. '/2*.agentls.md', true, true)
  check(#files < 2, 'the conversations are %s', vim.inspect(files))
  local runs, count = {}, 0
  local lines = vim.tbl_filter(function(line)
    return vim.trim(line) ~= ''
  end, lines_of(files[1]))
  local text = table.concat(vim.list_slice(lines, 2), '\n') .. '\n'
  return (text:gsub('<!%-%- agentls:(%w+) %-%->', function(run)
    if not runs[run] then
      count = count + 1
      runs[run] = count
    end
    return '<' .. runs[run] .. '>'
  end))
end

local former = ([[
## You
Mend the first comment.
## coder <1>
- `read cart.go`: 13 lines
- `edit cart.go`: +1 -1
It is a sentence now.
- 1 edit to review: [cart.go:3](<file://%s#L3>)
## You
How many functions are there?
## coder <2>
Let me look.
- `read cart.go`: 13 lines
There are three of them.
One is the first, another the second, and the last the third.
## You
In French, please.
## coder <2>
Il y en a trois.
## You
What did I ask for first?
]]):format(vim.fs.joinpath(vim.fn.getcwd(), 'cart.go'))

-- saved checks what is in the file, once it is whole.
local function saved(editor, behind)
  local ok, fault = pcall(e2e.wait, 'the saved conversation', function()
    editor.save()
    return vim.wait(3000, function()
      return read() == former .. behind
    end, 20)
  end)
  check(ok, '%s\nthe file:\n%s\nand not:\n%s', fault, read(), former .. behind)
end

---Plays the story in an editor on a terminal, which is at a conversation that has just begun. `prompt` begins to write a
---prompt at the end of the document; `send` sends it, and is told its text; `back` goes back to before the last one;
---`accept` accepts the first answer's edit, and `file` shows the file; `save` saves all documents. `write` writes text,
---where keys may not come too quickly.
function M.play(terminal, editor)
  local see, write = terminal.see, editor.write or terminal.keys
  see('Conversation of')
  say('a prompt')
  editor.prompt(true)
  write('Mend the first comment.')
  see('Mend the first comment.')
  editor.send('Mend the first comment.')
  see('1 edit to review')

  say('one that is corrected while its answer streams')
  editor.prompt()
  write('How many functions are there?')
  see('How many functions are there?')
  editor.send('How many functions are there?')
  terminal.match('How many functions are there%?.-## coder.-`read cart.go`: 13 lines.-## You')
  editor.prompt()
  write('In French, please.')
  see('In French, please.')
  editor.send('In French, please.')
  editor.prompt()
  write('What did ')
  terminal.match('In French, please%..-## coder.-## You.-What did')
  write('I ask ')
  see('What did I ask')
  say(terminal.screen())
  say('let the other go on')
  write('for ')
  see('Il y en a trois.')
  write('first?')
  see('What did I ask for first?')
  if editor.undo then
    editor.undo()
  end

  say('one about the first')
  editor.send('What did I ask for first?')
  see('You asked for a sentence.')
  say(terminal.screen())
  saved(editor, '## coder <3>\nYou asked for a sentence.\n## You\n')

  say('back to before it')
  editor.back()
  see('You asked for a sentence.', 0)
  saved(editor, '')
  editor.prompt()
  write('And then?')
  see('And then?')
  editor.send('And then?')
  see('A sentence, then a number.')
  saved(editor, 'And then?\n## coder <3>\nA sentence, then a number.\n## You\n')

  say('accept the edit')
  check(vim.list_contains(lines_of('cart.go'), '// first'), 'the file has changed before anything was accepted')
  editor.accept()
  editor.file()
  see('// First comes first.')
  e2e.wait('the accepted edit in the file', function()
    editor.save()
    return vim.wait(3000, function()
      return vim.list_contains(lines_of('cart.go'), '// First comes first.')
    end, 20)
  end)
end

return M
