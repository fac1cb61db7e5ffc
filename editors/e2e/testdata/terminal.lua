-- Plays an editor in a terminal, which is a terminal buffer of Neovim: keys go in, and the screen is read.

local check, say = e2e.check, e2e.say
local M = {}

---Starts a program on a screen of 40 rows and 120 columns, or as many as are named.
function M.start(command, env, columns)
  M.code = nil
  vim.o.columns, vim.o.lines = 120, 44
  M.buffer = vim.api.nvim_create_buf(false, true)
  vim.api.nvim_open_win(
    M.buffer, true, { relative = 'editor', row = 0, col = 0, width = columns or 120, height = 40, style = 'minimal' }
  )
  vim.api.nvim_buf_call(M.buffer, function()
    M.job = vim.fn.termopen(command, {
      env = env,
      on_exit = function(_, code)
        M.code = code
      end,
    })
  end)
  check(M.job > 0, '%s could not be started', command[1])
end

---What is on the screen.
function M.screen()
  return table.concat(vim.api.nvim_buf_get_lines(M.buffer, -41, -1, false), '\n')
end

---Sends keys, in Vim's notation; those of control characters alone, since others are no bytes of a terminal.
function M.keys(keys)
  vim.fn.chansend(M.job, vim.api.nvim_replace_termcodes(keys, true, true, true))
end

---How often a text is on the screen.
function M.count(text)
  return select(2, M.screen():gsub(vim.pesc(text), ''))
end

---Waits until a text is on the screen; with a number, until it is there so often.
function M.see(text, times)
  local ok, fault = pcall(e2e.wait, (times and times .. ' times ' or '') .. text, function()
    check(not M.code, 'the editor has ended with %s', tostring(M.code))
    local count = M.count(text)
    return times and count == times or not times and count > 0
  end)
  check(ok, '%s\nthe screen:\n%s', fault, M.screen())
end

---Waits until a pattern is on the screen.
function M.match(pattern)
  local ok, fault = pcall(e2e.wait, pattern, function()
    check(not M.code, 'the editor has ended with %s', tostring(M.code))
    return M.screen():find(pattern)
  end)
  check(ok, '%s\nthe screen:\n%s', fault, M.screen())
end

---Sends keys, again and again, until a text is on the screen: a program may not be ready for them yet.
function M.insist(keys, text)
  local ok, fault = pcall(e2e.wait, text, function()
    check(not M.code, 'the editor has ended with %s', tostring(M.code))
    M.keys(keys)
    return vim.wait(5000, function()
      return M.screen():find(text, 1, true) ~= nil
    end, 20)
  end)
  check(ok, '%s\nthe screen:\n%s', fault, M.screen())
end

---Leaves a Neovim once its servers have ended, for which it does not wait by itself: it may be gone before it has read
---the answer to `shutdown` and sent `exit`.
function M.leave()
  local script = vim.fs.joinpath(vim.env.HOME, 'leave.lua')
  vim.fn.writefile({
    'local plugin, compat = pcall(require, "agentls.compat")',
    'for _, client in ipairs(vim.lsp.get_clients()) do',
    '  if plugin then compat.stop(client) else vim.lsp.stop_client(client.id) end',
    'end',
    'vim.wait(60000, function() return #vim.lsp.get_clients() == 0 end, 10)',
    'vim.cmd("qall!")',
  }, script)
  M.keys('<C-\\><C-n>:luafile ' .. script .. '<CR>')
  M.finish()
end

---Waits for the program's end.
function M.finish()
  local ok, fault = pcall(e2e.wait, 'the end of the editor', function()
    return M.code
  end)
  check(ok, '%s\nthe screen:\n%s', fault, M.screen())
  check(M.code == 0, 'the editor ended with %s', M.code)
  say('')
end

return M
