-- What Neovim 0.10 and later releases call differently.

local M = {}

M.recent = vim.fn.has('nvim-0.11') == 1

function M.request(client, method, params, answered)
  if M.recent then
    return client:request(method, params, answered)
  end
  return client.request(method, params, answered)
end

function M.notify(client, method, params)
  if M.recent then
    client:notify(method, params)
  else
    client.notify(method, params)
  end
end

function M.supports(client, method, buffer)
  if M.recent then
    return client:supports_method(method, buffer)
  end
  return client.supports_method(method, { bufnr = buffer })
end

local stopped = {}

---Notes when a client is told to stop, by whomever: Neovim 0.10 tells nobody.
function M.watch(client)
  if M.recent then
    return
  end
  local stop = client.stop
  client.stop = function(...)
    stopped[client.id] = true
    return stop(...)
  end
end

function M.stop(client)
  if M.recent then
    client:stop()
  else
    client.stop()
  end
end

---Whether a client was told to stop, after which its server takes no more requests.
function M.stopping(client)
  return stopped[client.id] or M.recent and client:is_stopped()
end

function M.exec(client, command)
  if M.recent then
    client:exec_cmd(command)
  else
    client._exec_cmd(command)
  end
end

---The number of a buffer's text, as its server is told or will be.
---@param buffer integer
function M.version(buffer)
  return vim.lsp.util.buf_versions[buffer]
end

function M.log()
  return vim.lsp.log.get_filename()
end

---How far a byte of a line is, in units of an encoding.
---@param line string
---@param encoding string
---@param byte integer
function M.units(line, encoding, byte)
  byte = math.min(byte, #line)
  if encoding == 'utf-8' then
    return byte
  end
  if M.recent then
    return vim.str_utfindex(line, encoding, byte, false)
  end
  local utf32, utf16 = vim.str_utfindex(line, byte)
  return encoding == 'utf-32' and utf32 or utf16
end

---The byte of a line that is so many units of an encoding behind its beginning.
---@param line string
---@param encoding string
---@param units integer
function M.byte(line, encoding, units)
  if encoding == 'utf-8' then
    return math.min(units, #line)
  end
  if M.recent then
    return vim.str_byteindex(line, encoding, units, false)
  end
  local utf32, utf16 = vim.str_utfindex(line)
  return vim.str_byteindex(line, math.min(units, encoding == 'utf-32' and utf32 or utf16), encoding == 'utf-16')
end

return M
