-- An agent hands work to children: what the editor shows of each while they work, and that one can be stopped alone.

local check, say = e2e.check, e2e.say
local s = dofile(vim.fs.joinpath(vim.fs.dirname(vim.env.AGENTLS_E2E_STORY), 'session.lua'))

-- What the editor heard of progress, by token.
local progress = {}
vim.api.nvim_create_autocmd('LspProgress', {
  callback = function(event)
    local params = event.data.params
    local seen = progress[params.token] or { messages = {} }
    progress[params.token] = seen
    seen.title = params.value.title or seen.title
    seen.ended = seen.ended or params.value.kind == 'end'
    if params.value.message then
      table.insert(seen.messages, params.value.message)
    end
  end,
})

vim.cmd.edit('cart.go')
local buffer = vim.api.nvim_get_current_buf()
s.start(buffer)
vim.lsp.inlay_hint.enable(true, { bufnr = buffer })

-- hint finds an inlay hint that the editor holds for the buffer, and its line.
local function hint(text)
  for _, one in ipairs(vim.lsp.inlay_hint.get({ bufnr = buffer })) do
    if one.inlay_hint.label:find(text, 1, true) then
      return one.inlay_hint
    end
  end
end

local function titled(title)
  for token, seen in pairs(progress) do
    if seen.title == title then
      return token, seen
    end
  end
end

say('start the agent on the function Second')
s.command('agentls.run', {
  agent = 'coder',
  prompt = 'Look around.',
  context = {
    uri = vim.uri_from_bufnr(buffer),
    range = { start = { line = 7, character = 0 }, ['end'] = { line = 8, character = 0 } },
  },
})
for _, title in ipairs({ 'coder: Look around.', 'coder ▸ explore: stuck', 'coder ▸ explore: free' }) do
  s.wait('the progress ' .. title, function()
    return titled(title)
  end)
  say('  progress ' .. title)
end
s.wait('the hint of the agent at the line', function()
  local one = hint('⟳ coder · waits for 2 children')
  return one and one.position.line == 7
end)
for _, one in ipairs(vim.lsp.inlay_hint.get({ bufnr = buffer })) do
  say(string.format('  hint on line %d: %s', one.inlay_hint.position.line + 1, one.inlay_hint.label))
end
s.wait('the time in a hint, which no keystroke asks for', function()
  return hint(' s')
end)

say('point at it')
s.wait('the server to answer for hovers', function()
  return #vim.lsp.get_clients({ bufnr = buffer, method = 'textDocument/hover' }) > 0
end)
vim.api.nvim_win_set_cursor(0, { 8, 0 })
local story = s.ask('textDocument/hover', {
  textDocument = vim.lsp.util.make_text_document_params(buffer),
  position = { line = 7, character = 0 },
}).contents.value
say(story)
check(story:find('Children: 2', 1, true), 'the story has no children')

say('stop one child')
local token = titled('coder ▸ explore: stuck')
-- 0.10 has functions where later releases have methods.
local params = { token = token }
if vim.fn.has('nvim-0.11') == 1 then
  s.client:notify('window/workDoneProgress/cancel', params)
else
  s.client.notify('window/workDoneProgress/cancel', params)
end
s.wait('its end', function()
  return progress[token].ended
end)
local _, free = titled('coder ▸ explore: free')
check(not free.ended, 'its sibling has ended, too')
say('let the other go on')
s.wait('the end of all', function()
  return vim.iter(progress):all(function(_, seen)
    return seen.ended
  end)
end)
local _, root = titled('coder: Look around.')
say('  ' .. root.messages[#root.messages])
check(
  root.messages[#root.messages]:find('coder completed, 2 children (explore cancelled: stuck)', 1, true),
  'the end does not tell of the child'
)
s.wait('the hints to vanish', function()
  return #vim.lsp.inlay_hint.get({ bufnr = buffer }) == 0
end)
for _, seen in pairs(progress) do
  say('  ' .. seen.title .. ': ' .. table.concat(seen.messages, ' | '))
end

say('stop the server')
s.stop()
