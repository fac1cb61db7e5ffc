-- Lends the server what the editor's other sources of diagnostics say.

local client = require('agentls.client')
local compat = require('agentls.compat')

local M = {}

local severities = { 'error', 'warning', 'information', 'hint' }

-- line is a line of a buffer, for columns; '' where it cannot be read.
local function line(buffer, number)
  return vim.api.nvim_buf_is_loaded(buffer) and vim.api.nvim_buf_get_lines(buffer, number, number + 1, false)[1] or ''
end

---Answers agent/diagnostics.
---@param params agentls.EditorDiagnosticsParams
---@return agentls.EditorDiagnostics
function M.handle(params, context)
  local encoding = assert(vim.lsp.get_client_by_id(context.client_id)).offset_encoding
  local buffer
  if params.uri then
    buffer = vim.fn.bufnr(vim.uri_to_fname(params.uri))
    if buffer < 0 then
      return { documents = {} }
    end
  end
  local documents, order = {}, {}
  for _, diagnostic in ipairs(vim.diagnostic.get(buffer)) do
    local source = vim.diagnostic.get_namespace(diagnostic.namespace).name
    if not source:find('lsp.' .. client.name .. '.', 1, true) and vim.api.nvim_buf_get_name(diagnostic.bufnr) ~= '' then
      local document = documents[diagnostic.bufnr]
      if not document then
        document = {
          uri = vim.uri_from_bufnr(diagnostic.bufnr),
          version = vim.lsp.util.buf_versions[diagnostic.bufnr],
          diagnostics = {},
        }
        documents[diagnostic.bufnr] = document
        table.insert(order, document)
      end
      local function position(row, column)
        return { line = row, character = compat.units(line(diagnostic.bufnr, row), encoding, column) }
      end
      table.insert(document.diagnostics, {
        range = {
          start = position(diagnostic.lnum, diagnostic.col),
          ['end'] = position(diagnostic.end_lnum or diagnostic.lnum, diagnostic.end_col or diagnostic.col),
        },
        severity = severities[diagnostic.severity] or 'information',
        message = diagnostic.message,
        source = diagnostic.source or source,
        code = diagnostic.code and tostring(diagnostic.code) or nil,
      })
    end
  end
  return { documents = order }
end

return M
