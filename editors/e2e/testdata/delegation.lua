-- An agent shares its work: each child has its own progress, one is cancelled there, and what the other did can be
-- accepted.

local check, say = e2e.check, e2e.say
local s = dofile(vim.fs.joinpath(vim.fs.dirname(vim.env.AGENTLS_E2E_STORY), 'session.lua'))

-- progress is what the editor was told, by title.
local progress, tokens = {}, {}
vim.api.nvim_create_autocmd('LspProgress', {
  callback = function(event)
    local params = event.data.params
    if params.value.kind == 'begin' then
      tokens[params.token] = params.value.title
      progress[params.value.title] = { token = params.token, cancellable = params.value.cancellable, percentage = 0 }
    end
    local seen = progress[tokens[params.token]]
    if seen then
      seen[params.value.kind] = true
      seen.message = params.value.message or seen.message
      seen.lowered = seen.lowered or (params.value.percentage or 100) < seen.percentage
      seen.percentage = params.value.percentage or seen.percentage
    end
  end,
})

vim.cmd.edit('cart.go')
s.start(vim.api.nvim_get_current_buf())
local original = s.text()

say('an agent starts two children')
local started = s.command(
  'agentls.run', { agent = 'coder', prompt = 'Share the work.', context = { uri = vim.uri_from_bufnr(s.buffer) } }
)
local root, stuck, busy = 'coder: Share the work.', 'coder ▸ explore: look for ever', 'coder ▸ general: mend the second'
s.wait('the progress of each', function()
  return progress[root] and progress[stuck] and progress[busy]
end)
s.wait('the end of the one that works', function()
  return progress[busy]['end']
end)
check(not progress[stuck]['end'] and not progress[root]['end'], 'the others have ended, too: %s', vim.inspect(progress))
say('  ' .. stuck .. ' · ' .. tostring(progress[stuck].message))
for title, seen in pairs(progress) do
  check(seen.cancellable, 'the progress %q cannot be cancelled', title)
end

say('cancel the other one')
s.client.notify('window/workDoneProgress/cancel', { token = progress[stuck].token })
local result = s.command('agentls.wait', { run = started.run })
check(result.status == 'completed', 'the run ended as %s', vim.inspect(result))
check(#result.children == 2, 'it has the children %s', vim.inspect(result.children))
s.wait('the end of all progress', function()
  return progress[root]['end'] and progress[stuck]['end']
end)
for title, seen in pairs(progress) do
  check(not seen.lowered, 'the progress %q went back', title)
end

say('accept what the child proposes')
s.wait('its answer to be shown', function()
  return vim.api.nvim_buf_get_name(0):find(started.run, 1, true)
end)
vim.api.nvim_win_set_buf(0, s.buffer)
s.wait_hints(1)
check(s.hints()[1].message:find('general', 1, true), 'the hint does not name the child: %s', s.hints()[1].message)
check(s.text() == original, 'the buffer changed before anything was accepted')
s.menu(s.line('// second'), 'agentls: Accept this edit')
s.wait('the edit', function()
  return s.text():find('// second is better', 1, true)
end)
s.wait_hints(0)
s.stop()
