-- A review of a file with unsaved changes, from the first keystroke to the accepted hunk.

local check, say = e2e.check, e2e.say
local path = vim.fs.joinpath(vim.fn.getcwd(), 'shelf', 'shelf.go')
-- vim.text.diff is what 0.12 calls it.
local diff = vim.text and vim.text.diff or vim.diff

-- What only the buffer has: two faults with a safe fix (doubled words), far enough apart for a hunk each, and some
-- without one (a debug print).
local doubled = 'the the'
local unsaved = {
  '',
  '// Forget removes ' .. doubled .. ' order of that name.',
  'func Forget(name string) {',
  '\t_, err := os.Stat(name)',
  '\terr = os.Remove(name)',
  '\tif err != nil {',
  '\t\tpanic(err)',
  '\t}',
  '}',
  '',
  '// Count tells how many orders ' .. doubled .. ' folder holds.',
  'func Count(folder string) (int, error) {',
  '\tentries, err := os.ReadDir(folder)',
  '\tfmt.Println("DEBUG count", folder, entries)',
  '\tif err != nil {',
  '\t\treturn 0, fmt.Errorf("count the orders: %w", err)',
  '\t}',
  '\treturn len(entries), nil',
  '}',
}

local function file_text()
  local file = assert(io.open(path, 'rb'))
  local text = file:read('*a')
  file:close()
  return text
end

local function buffer_text(buffer)
  return table.concat(vim.api.nvim_buf_get_lines(buffer, 0, -1, false), '\n') .. '\n'
end

-- The events, from here on.
local progress, changes, exit = {}, 0, nil
vim.api.nvim_create_autocmd('LspProgress', {
  callback = function(event)
    local params = event.data.params
    local seen = progress[params.token] or { percentage = 0 }
    progress[params.token] = seen
    seen[params.value.kind] = true
    seen.title = params.value.title or seen.title
    if params.value.percentage then
      seen.lowered = seen.lowered or params.value.percentage < seen.percentage
      seen.percentage = params.value.percentage
    end
  end,
})
vim.api.nvim_create_autocmd('DiagnosticChanged', {
  callback = function()
    changes = changes + 1
  end,
})

-- wait gives up at once when the server has ended, for then nothing more comes.
local function wait(what, condition)
  e2e.wait(what, function()
    check(not exit, 'the server ended before %s: %s', what, vim.inspect(exit))
    return condition()
  end)
end

say('open the file and type into it')
vim.cmd.edit(path)
local buffer = vim.api.nvim_get_current_buf()
local on_disk = file_text()
check(buffer_text(buffer) == on_disk, 'the buffer is not what the file holds')
local first = vim.api.nvim_buf_line_count(buffer)
vim.api.nvim_buf_set_lines(buffer, -1, -1, false, unsaved)
local last = vim.api.nvim_buf_line_count(buffer) - 1
check(vim.bo[buffer].modified, 'the buffer has no unsaved changes')

say('start the server')
local config = {
  name = 'agentls',
  cmd = { vim.env.AGENTLS_BIN, 'serve' },
  on_exit = function(code, signal)
    exit = { code = code, signal = signal }
  end,
}
if vim.lsp.config then
  config.filetypes, config.root_markers = { 'go' }, { 'go.mod' }
  vim.lsp.config('agentls', config)
  vim.lsp.enable('agentls')
else
  config.root_dir = vim.fn.getcwd()
  check(vim.lsp.start(config), 'vim.lsp.start could not start %s', config.cmd[1])
end
local client
wait('the server to be attached', function()
  client = vim.lsp.get_clients({ bufnr = buffer, name = 'agentls' })[1]
  return client and client.initialized
end)

-- reviews lists what agentls found, diagnostics of proposals included, wherever it was found.
local function reviews()
  return vim.tbl_filter(function(diagnostic)
    local namespace = vim.diagnostic.get_namespace(diagnostic.namespace).name
    return namespace:find('lsp.agentls.', 1, true)
  end, vim.diagnostic.get(buffer))
end

-- actions_at asks the server, as the editor's menu does, for what can be done on a line.
local function actions_at(line)
  local diagnostics = {}
  for _, diagnostic in ipairs(vim.diagnostic.get(buffer, { lnum = line })) do
    table.insert(diagnostics, vim.tbl_get(diagnostic, 'user_data', 'lsp'))
  end
  local answers, fault = vim.lsp.buf_request_sync(buffer, 'textDocument/codeAction', {
    textDocument = vim.lsp.util.make_text_document_params(buffer),
    range = { start = { line = line, character = 0 }, ['end'] = { line = line, character = 0 } },
    context = { diagnostics = diagnostics, triggerKind = 1 },
  }, 60000)
  check(answers, 'textDocument/codeAction: %s', fault)
  local answer = answers[client.id] or {}
  local refusal = answer.err or answer.error
  check(not refusal, 'textDocument/codeAction: %s', vim.inspect(refusal))
  return answer.result or {}
end

-- choose opens the editor's own menu of code actions on a line, and picks the entry with this title.
local function choose(line, title)
  local offered, question
  vim.ui.select = function(items, options, on_choice)
    if options.kind ~= 'codeaction' then
      question = options.prompt
      return on_choice(nil)
    end
    offered = {}
    for _, item in ipairs(items) do
      table.insert(offered, item.action.title)
      if item.action.title == title then
        return on_choice(item)
      end
    end
    on_choice(nil)
  end
  vim.api.nvim_win_set_cursor(0, { line + 1, 0 })
  vim.lsp.buf.code_action()
  wait('the menu of code actions', function()
    check(not question, 'an unexpected question: %s', question)
    return offered
  end)
  check(vim.list_contains(offered, title), '%q is not in the menu: %s', title, vim.inspect(offered))
  say('  chose ' .. title)
end

say('review the file')
local review
for _, action in ipairs(actions_at(first)) do
  if action.title == 'agentls: Review this file' then
    review = action
  end
end
check(review, 'no code action "agentls: Review this file" in %s', vim.inspect(actions_at(first)))
local command = type(review.command) == 'table' and review.command.command or review.command
check(command == 'agentls.review', 'the action runs the command %s', vim.inspect(command))
choose(first, review.title)
wait('progress to begin', function()
  return vim.iter(progress):any(function(_, seen)
    return seen.begin
  end)
end)
wait('progress to end', function()
  return vim.iter(progress):all(function(_, seen)
    return seen['end']
  end)
end)
for token, seen in pairs(progress) do
  check(seen.begin, 'progress %s ended without a beginning', token)
  check(not seen.lowered, 'the percentage of %q went down', seen.title)
end

local function in_unsaved(diagnostic)
  return diagnostic.lnum >= first and diagnostic.lnum <= last
end
wait('findings in the unsaved text', function()
  return vim.iter(reviews()):any(in_unsaved)
end)
for _, diagnostic in ipairs(reviews()) do
  say(string.format('  line %d: %s', diagnostic.lnum + 1, diagnostic.message))
end

say('accept one hunk')
-- acceptable finds a line with a diagnostic whose code actions accept one hunk, in the unsaved text if there is one.
local function acceptable()
  local found = reviews()
  table.sort(found, function(a, b)
    local here, there = in_unsaved(a), in_unsaved(b)
    if here ~= there then
      return here
    end
    return a.lnum < b.lnum
  end)
  for _, diagnostic in ipairs(found) do
    for _, action in ipairs(actions_at(diagnostic.lnum)) do
      local what = action.title:match('^agentls: Accept (.*)')
      if what and not vim.startswith(what, 'all ') then
        return diagnostic.lnum, action.title
      end
    end
  end
end
local asked, line, title = -1, nil, nil
repeat
  wait('a change of the diagnostics', function()
    return changes ~= asked
  end)
  asked = changes
  line, title = acceptable()
until line
local before = buffer_text(buffer)
choose(line, title)
wait('the buffer to change', function()
  return buffer_text(buffer) ~= before
end)
local after = buffer_text(buffer)
local changed = diff(before, after)
say(changed)
check(#diff(before, after, { result_type = 'indices' }) == 1, 'accepting one hunk changed several places: %s', changed)
check(after:find('func Forget(name string) {', 1, true), 'the unsaved text is gone')
check(select(2, after:gsub(doubled, '')) == 1, 'the other edit was made, too, or none: %s', changed)
check(vim.bo[buffer].modified, 'the buffer counts as saved')
check(file_text() == on_disk, 'the file on disk has changed')

say('stop the server')
if vim.lsp.config then
  vim.lsp.enable('agentls', false)
else
  vim.lsp.stop_client(client.id)
end
e2e.wait('the server to exit', function()
  return exit
end)
check(exit.code == 0 and exit.signal == 0, 'the server exited with %s', vim.inspect(exit))
check(file_text() == on_disk, 'the file on disk has changed')
