-- What stories about proposals share: a server on a buffer, its commands, its diagnostics, and the editor's menu of
-- actions.

local check, say = e2e.check, e2e.say
local M = { exits = 0 }

-- wait gives up at once when the server has ended, for then nothing more comes.
function M.wait(what, condition)
  local exits = M.exits
  e2e.wait(what, function()
    check(M.exits == exits, 'the server ended before %s', what)
    return condition()
  end)
end

-- start starts a server, with the buffer attached.
function M.start(buffer)
  local id = vim.lsp.start({
    name = 'agentls',
    cmd = { vim.env.AGENTLS_BIN, 'serve' },
    root_dir = vim.fn.getcwd(),
    on_exit = function(code, signal)
      M.exits = M.exits + 1
      M.exit = { code = code, signal = signal }
    end,
  }, { bufnr = buffer })
  check(id, 'vim.lsp.start could not start the server')
  M.wait('the server to be attached', function()
    M.client = vim.lsp.get_client_by_id(id)
    return M.client and M.client.initialized and vim.lsp.buf_is_attached(buffer, id)
  end)
  M.buffer = buffer
end

-- stop ends the server in order.
function M.stop()
  local exits = M.exits
  vim.lsp.stop_client(M.client.id)
  e2e.wait('the server to exit', function()
    return M.exits > exits
  end)
  check(M.exit.code == 0 and M.exit.signal == 0, 'the server exited with %s', vim.inspect(M.exit))
end

-- kill ends the server at once, as a crash does.
function M.kill()
  local exits = M.exits
  vim.lsp.stop_client(M.client.id, true)
  e2e.wait('the server to be gone', function()
    return M.exits > exits and not vim.lsp.get_client_by_id(M.client.id)
  end)
  vim.diagnostic.reset() -- 0.10 keeps those of a client that is gone
end

function M.ask(method, params)
  local answers, fault = vim.lsp.buf_request_sync(M.buffer, method, params, 60000)
  check(answers, '%s: %s', method, fault)
  local answer = answers[M.client.id] or {}
  local refusal = answer.err or answer.error
  check(not refusal, '%s: %s', method, vim.inspect(refusal))
  return answer.result
end

function M.command(name, argument)
  return M.ask('workspace/executeCommand', { command = name, arguments = { argument } })
end

-- agent has the agent coder work on the buffer, to its end.
function M.agent(prompt)
  local started = M.command(
    'agentls.run', { agent = 'coder', prompt = prompt, context = { uri = vim.uri_from_bufnr(M.buffer) } }
  )
  local result = M.command('agentls.wait', { run = started.run })
  check(result.status == 'completed', 'the run ended as %s', vim.inspect(result))
  M.wait('its answer to be shown', function()
    return vim.api.nvim_buf_get_name(0):find(started.run, 1, true)
  end)
  vim.api.nvim_win_set_buf(0, M.buffer)
  return started.run
end

function M.text(buffer)
  return table.concat(vim.api.nvim_buf_get_lines(buffer or M.buffer, 0, -1, false), '\n') .. '\n'
end

-- hints are the diagnostics of proposals, by line.
function M.hints(buffer)
  local found = vim.tbl_filter(function(diagnostic)
    return diagnostic.code == 'proposal'
  end, vim.diagnostic.get(buffer or M.buffer))
  table.sort(found, function(a, b)
    return a.lnum < b.lnum
  end)
  return found
end

function M.wait_hints(count)
  M.wait(count .. ' hints of proposals', function()
    return #M.hints() == count
  end)
end

-- line finds a text in the buffer, 0-based.
function M.line(text)
  for number, line in ipairs(vim.api.nvim_buf_get_lines(M.buffer, 0, -1, false)) do
    if line:find(text, 1, true) then
      return number - 1
    end
  end
  check(false, '%q is not in the buffer:\n%s', text, M.text())
end

-- menu opens the editor's own menu of code actions on a line, and picks the entry with this title; nil only looks. It
-- returns the titles.
function M.menu(line, title)
  local offered
  vim.ui.select = function(items, options, on_choice)
    check(options.kind == 'codeaction', 'an unexpected question: %s', options.prompt)
    offered = {}
    local chosen
    for _, item in ipairs(items) do
      table.insert(offered, item.action.title)
      if item.action.title == title then
        chosen = item
      end
    end
    on_choice(chosen)
  end
  vim.api.nvim_win_set_cursor(0, { line + 1, 0 })
  vim.lsp.buf.code_action()
  M.wait('the menu of code actions', function()
    return offered
  end)
  check(not title or vim.list_contains(offered, title), '%q is not in the menu: %s', title, vim.inspect(offered))
  if title then
    say('  chose ' .. title)
  end
  return offered
end

return M
