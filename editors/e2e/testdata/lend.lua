-- What the plugin lends the server: diagnostics and symbols of the editor's other servers, and a model. Both servers
-- are played by functions in this process, so that the answers can be looked at.

local check, say, wait = e2e.check, e2e.say, e2e.wait

-- played is a server that answers requests by a table of functions, and can ask the client.
local function played(capabilities, answers)
  local server = {}
  function server.start(dispatchers)
    server.dispatchers = dispatchers
    local closing, id = false, 0
    answers.initialize = function()
      return { capabilities = capabilities }
    end
    return {
      request = function(method, params, callback)
        id = id + 1
        local answer = answers[method]
        vim.schedule(function()
          callback(nil, answer and answer(params) or vim.NIL)
        end)
        return true, id
      end,
      notify = function(method)
        if method == 'exit' then
          closing = true
          vim.schedule(function()
            dispatchers.on_exit(0, 0)
          end)
        end
        return true
      end,
      is_closing = function()
        return closing
      end,
      terminate = function()
        closing = true
      end,
    }
  end
  ---Asks the client, as the wire would: inside a coroutine.
  function server.ask(method, params)
    local done, result, fault
    coroutine.wrap(function()
      result, fault = server.dispatchers.server_request(method, params)
      done = true
    end)()
    wait('the answer to ' .. method, function()
      return done
    end)
    check(result, '%s failed: %s', method, vim.inspect(fault))
    return result
  end
  return server
end

vim.cmd.edit('cart.go')
-- Before the function stands a letter that is one unit of UTF-16, two of UTF-8, and one that is two and four.
vim.api.nvim_buf_set_lines(0, 0, -1, false, { 'package cart', '', '/* é😀 */ func First() {}' })
local buffer, uri = vim.api.nvim_get_current_buf(), vim.uri_from_bufnr(0)
local place = { start = { line = 2, character = 15 }, ['end'] = { line = 2, character = 20 } }

local queries = {}
local other = played({
  positionEncoding = 'utf-16',
  definitionProvider = true,
  referencesProvider = true,
  documentSymbolProvider = true,
  workspaceSymbolProvider = true,
}, {
  ['textDocument/definition'] = function(params)
    queries.definition = params
    return { uri = uri, range = place }
  end,
  ['textDocument/references'] = function(params)
    queries.references = params
    return { { uri = uri, range = place } }
  end,
  ['textDocument/documentSymbol'] = function()
    return { {
      name = 'First',
      kind = 12,
      range = place,
      selectionRange = place,
      children = { { name = 'inner', kind = 13, range = place, selectionRange = place } },
    } }
  end,
  ['workspace/symbol'] = function(params)
    queries.workspace = params
    return { { name = 'First', kind = 12, location = { uri = uri, range = place }, containerName = 'cart' } }
  end,
})
local agentls = played({ positionEncoding = 'utf-8' }, {})

say('a model of the editor is announced')
require('agentls').setup({
  filetypes = { 'none' },
  generate = function(params, done)
    done({
      message = {
        role = 'assistant', parts = { { kind = 'text', text = 'You said ' .. params.messages[1].parts[1].text } },
      },
      stop = 'end',
    })
  end,
})
local client = require('agentls.client')
local config = client.config()
local announced = config.capabilities.experimental.agentls
check(
  announced.models and announced.symbols and announced.diagnostics and announced.asks and announced.questions,
  'it announces %s', vim.inspect(announced)
)

say('both servers run')
config.cmd, config.root_dir = agentls.start, vim.fn.getcwd()
-- 0.10 knows UTF-16 alone; the encoding of the connection is what the answers are in.
local ours = assert(vim.lsp.start(config))
local theirs = assert(vim.lsp.start({ name = 'other', cmd = other.start, root_dir = vim.fn.getcwd() }))
wait('both to be attached', function()
  local a, b = vim.lsp.get_client_by_id(ours), vim.lsp.get_client_by_id(theirs)
  return a and b and a.initialized and b.initialized and vim.lsp.buf_is_attached(buffer, ours) and vim.lsp.buf_is_attached(buffer, theirs)
end)
local encoding = vim.lsp.get_client_by_id(ours).offset_encoding
-- "/* é😀 */ func " is 18 bytes and 15 units of UTF-16.
local column = encoding == 'utf-8' and 18 or 15
say('  agentls speaks ' .. encoding)

say('diagnostics of others, and none of its own')
local namespace = vim.api.nvim_create_namespace('a linter')
vim.diagnostic.set(
  namespace, buffer,
  { {
    lnum = 2,
    col = 18,
    end_lnum = 2,
    end_col = 23,
    message = 'First is not used',
    severity = vim.diagnostic.severity.WARN,
    source = 'linter',
    code = 'unused',
  } }
)
vim.diagnostic.set(
  vim.lsp.diagnostic.get_namespace(ours), buffer, { { lnum = 0, col = 0, message = 'a finding of agentls' } }
)
local lent = agentls.ask('agent/diagnostics', { uri = uri })
check(#lent.documents == 1 and #lent.documents[1].diagnostics == 1, 'it lends %s', vim.inspect(lent))
local diagnostic = lent.documents[1].diagnostics[1]
check(
  lent.documents[1].uri == uri and diagnostic.message == 'First is not used' and diagnostic.severity == 'warning' and diagnostic.source == 'linter' and diagnostic.code == 'unused',
  'it lends %s', vim.inspect(lent)
)
check(
  diagnostic.range.start.character == column and diagnostic.range['end'].character == column + 5, 'the range is %s',
  vim.inspect(diagnostic.range)
)
check(#agentls.ask('agent/diagnostics', {}).documents == 1, 'it lends not all documents')
check(
  #agentls.ask('agent/diagnostics', { uri = vim.uri_from_fname('/elsewhere.go') }).documents == 0,
  'it lends what is not there'
)

say('symbols')
local at = { line = 2, character = column }
for _, query in ipairs({ 'definition', 'references' }) do
  local found = agentls.ask('agent/symbols', { query = query, uri = uri, position = at }).symbols
  check(
    #found == 1 and found[1].uri == uri and found[1].range.start.character == column, '%s: %s', query,
    vim.inspect(found)
  )
  check(queries[query].position.character == 15, '%s was asked for at %s', query, vim.inspect(queries[query].position))
end
local found = agentls.ask('agent/symbols', { query = 'document', uri = uri }).symbols
check(
  #found == 2 and found[1].name == 'First' and found[1].kind == 'function' and found[2].container == 'First' and found[2].kind == 'variable',
  'the symbols of the document: %s', vim.inspect(found)
)
found = agentls.ask('agent/symbols', { query = 'workspace', name = 'Fir' }).symbols
check(
  #found == 1 and found[1].container == 'cart' and queries.workspace.query == 'Fir', 'the symbols of the workspace: %s',
  vim.inspect(found)
)

say('the model')
local answer = agentls.ask(
  'agent/model/generate',
  {
    run = 'r', system = '', messages = { { role = 'user', parts = { { kind = 'text', text = 'hello' } } } }, tools = {},
  }
)
check(answer.message.parts[1].text == 'You said hello', 'the model said %s', vim.inspect(answer))

say('a question with several answers')
local menus = {}
vim.ui.select = function(items, options, on_choice)
  table.insert(menus, { items = items, options = options, choose = on_choice })
end
local answered
coroutine.wrap(function()
  answered = agentls.dispatchers.server_request('agent/question', {
    id = 'a', session = 's', run = 'r', agent = 'coder', question = 'Which?', multiple = true, freeText = true,
    choices = { { label = 'one', description = 'the first' }, { label = 'two' } },
  })
end)()
for _, label in ipairs({ 'two', 'one', 'That is all' }) do
  wait('the menu for ' .. label, function()
    return #menus > 0
  end)
  local menu = table.remove(menus)
  check(
    menu.options.prompt:find('coder: Which?', 1, true), 'the question does not name the agent: %s', menu.options.prompt
  )
  for _, item in ipairs(menu.items) do
    if item.label == label then
      menu.choose(item)
    end
  end
end
wait('the answer', function()
  return answered
end)
check(vim.deep_equal(answered, { answers = { 'two', 'one' } }), 'the answer is %s', vim.inspect(answered))

for _, id in ipairs({ ours, theirs }) do
  local lsp = vim.lsp.get_client_by_id(id)
  require('agentls.compat').stop(lsp)
end
