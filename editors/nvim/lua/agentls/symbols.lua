-- Lends the server the definitions, references and symbols of the editor's other language servers.

local async = require('agentls.async')
local compat = require('agentls.compat')

local M = {}

-- How long another server may take, in milliseconds.
local patience = 5000

local queries = {
  definition = 'textDocument/definition',
  references = 'textDocument/references',
  document = 'textDocument/documentSymbol',
  workspace = 'workspace/symbol',
}

-- line is a line of a document, whether it is open or not.
local function line(uri, number)
  local buffer = vim.uri_to_bufnr(uri)
  if vim.api.nvim_buf_is_loaded(buffer) then
    return vim.api.nvim_buf_get_lines(buffer, number, number + 1, false)[1] or ''
  end
  local ok, lines = pcall(vim.fn.readfile, vim.uri_to_fname(uri), '', number + 1)
  return ok and lines[number + 1] or ''
end

local function convert(uri, position, from, to)
  if from == to then
    return { line = position.line, character = position.character }
  end
  local text = line(uri, position.line)
  return { line = position.line, character = compat.units(text, to, compat.byte(text, from, position.character)) }
end

---@param lsp vim.lsp.Client
local function request(lsp, method, params)
  return async.await(function(done)
    vim.defer_fn(done, patience)
    if not compat.request(lsp, method, params, function(_, result)
      done(result)
    end) then
      done()
    end
  end)
end

---Answers agent/symbols.
---@param params agentls.SymbolsParams
---@return agentls.EditorSymbols
function M.handle(params, context)
  local encoding = assert(vim.lsp.get_client_by_id(context.client_id)).offset_encoding
  local method = queries[params.query]
  local buffer = params.uri and vim.uri_to_bufnr(params.uri)
  local found = {}
  local function add(other, uri, range, name, kind, container)
    table.insert(found, {
      uri = uri,
      range = {
        start = convert(uri, range.start, other.offset_encoding, encoding),
        ['end'] = convert(uri, range['end'], other.offset_encoding, encoding),
      },
      name = name,
      kind = kind and vim.lsp.protocol.SymbolKind[kind] and vim.lsp.protocol.SymbolKind[kind]:lower() or nil,
      container = container ~= '' and container or nil,
    })
  end
  for _, other in ipairs(method and vim.lsp.get_clients({ bufnr = buffer }) or {}) do
    if other.id ~= context.client_id and other.initialized and compat.supports(other, method, buffer) then
      local query = { query = params.name or '' }
      if params.uri then
        query = { textDocument = { uri = params.uri } }
      end
      if params.position then
        query.position = convert(params.uri, params.position, encoding, other.offset_encoding)
      end
      if params.query == 'references' then
        query.context = { includeDeclaration = true }
      end
      local result = request(other, method, query)
      local function take(items, container)
        for _, item in ipairs(items) do
          local place = item.location or item
          local uri = place.uri or place.targetUri or params.uri
          local range = place.range or place.targetSelectionRange or {
            start = { line = 0, character = 0 }, ['end'] = { line = 0, character = 0 },
          }
          add(other, uri, item.selectionRange or range, item.name, item.kind, item.containerName or container)
          take(item.children or {}, item.name)
        end
      end
      if type(result) == 'table' then
        take(vim.islist(result) and result or { result })
      end
    end
  end
  return { symbols = found }
end

return M
