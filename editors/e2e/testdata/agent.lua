-- A definition is written: a wrong tool is underlined at once, the quick fix mends it, and the agent is listed without
-- a restart, in the buffer's editor and when another program writes the file.

local check, say = e2e.check, e2e.say
local path = vim.fs.joinpath(vim.fn.getcwd(), '.agentls', 'agents', 'poet.md')
local exit

local function wait(what, condition)
  e2e.wait(what, function()
    check(not exit, 'the server ended before %s: %s', what, vim.inspect(exit))
    return condition()
  end)
end

say('open a definition that is not written yet')
vim.fn.mkdir(vim.fs.dirname(path), 'p')
vim.cmd.edit(path)
local buffer = vim.api.nvim_get_current_buf()
local id = vim.lsp.start({
  name = 'agentls',
  cmd = { vim.env.AGENTLS_BIN, 'serve' },
  root_dir = vim.fn.getcwd(),
  init_options = { trusted = true },
  on_exit = function(code, signal)
    exit = { code = code, signal = signal }
  end,
})
check(id, 'vim.lsp.start could not start the server')
local client
wait('the server to be attached', function()
  client = vim.lsp.get_clients({ bufnr = buffer, name = 'agentls' })[1]
  return client and client.initialized
end)

-- ask sends a request, as soon as the server has told the editor that it answers such ones.
local function ask(method, params)
  wait('the server to offer ' .. method, function()
    if vim.fn.has('nvim-0.11') == 1 then
      return client:supports_method(method, buffer)
    end
    return client.supports_method(method, { bufnr = buffer })
  end)
  local answers, fault = vim.lsp.buf_request_sync(buffer, method, params, 60000)
  check(answers, '%s: %s', method, fault)
  local answer = answers[client.id] or {}
  local refusal = answer.err or answer.error
  check(not refusal, '%s: %s', method, vim.inspect(refusal))
  return answer.result
end

-- listed reports whether the palette has an agent.
local function listed(name)
  local list = ask('workspace/executeCommand', { command = 'agentls.list', arguments = { vim.empty_dict() } })
  return vim.iter(list.agents):any(function(agent)
    return agent.slug == name
  end)
end

say('type, with a wrong tool')
vim.api.nvim_buf_set_lines(buffer, 0, -1, false, {
  '---',
  'name: poet',
  'description: Writes poems on code.',
  'category: [primary]',
  'tools: [read, gerp]',
  '---',
  'You write poems on {{project}}.',
})
local found
wait('the wrong tool to be underlined', function()
  found = vim.diagnostic.get(buffer) -- those of the empty file go first
  return #found > 0 and found[1].message:find('gerp', 1, true)
end)
check(#found == 1, 'there is more than one diagnostic: %s', vim.inspect(found))
check(found[1].severity == vim.diagnostic.severity.ERROR, 'it is no error: %s', vim.inspect(found[1]))
local wrong = vim.api.nvim_buf_get_text(buffer, found[1].lnum, found[1].col, found[1].end_lnum, found[1].end_col, {})
check(wrong[1] == 'gerp', 'it underlines %s', vim.inspect(wrong))
say('  ' .. found[1].message)

say('ask about the tool')
local hover = ask(
  'textDocument/hover',
  { textDocument = vim.lsp.util.make_text_document_params(buffer), position = { line = 4, character = 9 } }
)
check(hover and hover.contents.value:find('`read`', 1, true), 'hover on read: %s', vim.inspect(hover))
local completions = ask(
  'textDocument/completion',
  { textDocument = vim.lsp.util.make_text_document_params(buffer), position = { line = 4, character = 16 } }
)
check(vim.iter(completions.items):any(function(item)
  return item.label == 'grep'
end), 'grep is not completed: %s', vim.inspect(completions))

say('mend it by the quick fix')
local offered
vim.ui.select = function(items, _, on_choice)
  offered = vim.tbl_map(function(item)
    return item.action.title
  end, items)
  for _, item in ipairs(items) do
    if item.action.title:find('Replace', 1, true) then
      return on_choice(item)
    end
  end
  on_choice(nil)
end
vim.api.nvim_win_set_cursor(0, { 5, 14 })
vim.lsp.buf.code_action()
wait('the text to be mended', function()
  return vim.api.nvim_buf_get_lines(buffer, 4, 5, false)[1] == 'tools: [read, grep]'
end)
wait('the diagnostic to go', function()
  return #vim.diagnostic.get(buffer) == 0
end)

say('save it')
check(not listed('poet'), 'the agent is listed before the file is there')
vim.cmd.write()
wait('the agent to be listed', function()
  return listed('poet')
end)

say('another program writes one')
local file = assert(io.open(vim.fs.joinpath(vim.fs.dirname(path), 'critic-of-poems.md'), 'w'))
file:write('---\nname: critic-of-poems\ndescription: Reads poems.\ncategory: [primary]\n---\nYou read poems.\n')
file:close()
wait('that agent to be listed', function()
  return listed('critic-of-poems')
end)
check(listed('poet'), 'the first agent is gone')

say('remove the definition')
check(vim.uv.fs_unlink(path), 'the file cannot be removed')
wait('the agent to go', function()
  return not listed('poet')
end)

say('stop the server')
vim.lsp.stop_client(client.id)
e2e.wait('the server to exit', function()
  return exit
end)
check(exit.code == 0 and exit.signal == 0, 'the server exited with %s', vim.inspect(exit))
