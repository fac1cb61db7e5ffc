-- Requests in the order in which they are written, without a wait that stops the editor.

local M = {}

---Runs a function as a coroutine. What it fails with is shown.
---@param work fun()
function M.go(work)
  coroutine.wrap(function()
    local ok, fault = xpcall(work, function(fault)
      -- A failure of the server is told as it is, a mistake of ours with its place.
      return type(fault) == 'table' and fault.told or debug.traceback(tostring(fault))
    end)
    if not ok then
      vim.schedule(function()
        vim.notify('agentls: ' .. fault, vim.log.levels.ERROR)
      end)
    end
  end)()
end

---Fails with a text for the user.
---@param text string
function M.fail(text)
  error({ told = text })
end

---Waits inside go() for a function that calls back once, and returns what it was called with.
---@param start fun(done: fun(...))
function M.await(start)
  local co = assert(coroutine.running())
  local came, waiting
  start(function(...)
    if came then
      return
    end
    came = vim.F.pack_len(...)
    if waiting then
      local ok, fault = coroutine.resume(co)
      if not ok then
        error(fault)
      end
    end
  end)
  if not came then
    waiting = true
    coroutine.yield()
  end
  return vim.F.unpack_len(came)
end

---Goes on behind a moment.
---@param ms integer
function M.sleep(ms)
  M.await(function(done)
    vim.defer_fn(done, ms)
  end)
end

return M
