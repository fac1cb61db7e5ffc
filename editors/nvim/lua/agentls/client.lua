-- The connection to the server: how it is started, and requests to it.

local async = require('agentls.async')
local compat = require('agentls.compat')
local options = require('agentls.options')
local protocol = require('agentls.protocol')

local M = {}

M.name = 'agentls'

---@param buffer integer
local function root(buffer)
  local file, here = vim.api.nvim_buf_get_name(buffer), vim.fn.getcwd()
  if vim.fs.normalize(file):find('/agentls/conversations/[^/]+%.agentls%.md$') then
    -- It lies in a folder of agentls's own, and is about the workspace in which it was opened.
    return vim.b[buffer].agentls_root or here
  end
  local found = vim.fs.root(buffer, options.current.root_markers)
  if found then
    return found
  end
  if file == '' or vim.startswith(file, here) then
    return here
  end
  return vim.fs.dirname(file)
end

local function watch()
  vim.api.nvim_create_autocmd('LspProgress', {
    group = vim.api.nvim_create_augroup('agentls.progress', {}),
    callback = function(event)
      local client = vim.lsp.get_client_by_id(event.data.client_id)
      if client and client.name == M.name then
        require('agentls.statusline')
        require('agentls.progress').report(client.id, event.data.params)
      end
    end,
  })
end

---What vim.lsp.config and vim.lsp.start take.
function M.config()
  watch()
  local o = options.current
  local handlers = {}
  for method, feature in pairs({
    [protocol.methods.Event] = 'live',
    [protocol.methods.Status] = 'statusline',
    [protocol.methods.Ask] = 'asks',
    [protocol.methods.Question] = 'questions',
    [protocol.methods.Diagnostics] = 'diagnostics',
    [protocol.methods.Symbols] = 'symbols',
    [protocol.methods.Generate] = 'generate',
    ['window/showMessageRequest'] = 'prompts',
  }) do
    handlers[method] = function(_, params, context)
      return require('agentls.' .. feature).handle(params, context)
    end
  end
  for method, how in pairs({ ['window/showDocument'] = 'show', ['workspace/applyEdit'] = 'apply' }) do
    handlers[method] = function(_, params, context)
      return require('agentls.conversation')[how](params, context)
    end
  end
  local config = {
    name = M.name,
    cmd = o.cmd,
    filetypes = o.filetypes,
    capabilities = vim.tbl_deep_extend('force', vim.lsp.protocol.make_client_capabilities(), {
      -- Neovim does take edits of this form.
      workspace = { workspaceEdit = { documentChanges = true } },
      experimental = {
        agentls = {
          version = protocol.version,
          asks = true,
          questions = true,
          diagnostics = true,
          symbols = true,
          models = o.generate and true or nil,
        },
      },
    }),
    handlers = handlers,
    settings = { agentls = next(o.settings) and o.settings or vim.empty_dict() },
    init_options = vim.tbl_extend('force', vim.empty_dict(), o.settings, { trusted = o.trusted }),
    on_init = compat.watch,
    on_exit = function(code, signal, id)
      vim.schedule(function()
        require('agentls.live').forget(id)
        if code ~= 0 and signal == 0 then
          vim.notify(
            'agentls ended with code ' .. code .. '; :Agentls log says why, :Agentls restart starts it again',
            vim.log.levels.ERROR
          )
        end
      end)
    end,
  }
  if compat.recent then
    config.root_dir = function(buffer, done)
      done(root(buffer))
    end
  end
  return config
end

local missing = {}

local function start(buffer)
  local config = M.config()
  if compat.recent then
    -- With what the user's own vim.lsp.config says.
    config = vim.lsp.config[M.name] or config
  end
  local program = type(config.cmd) == 'table' and config.cmd[1]
  if program and vim.fn.executable(program) == 0 then
    if not missing[program] then
      missing[program] = true
      vim.notify(
        ('agentls: %q is not to be found; :checkhealth agentls says what to do'):format(program), vim.log.levels.WARN
      )
    end
    return nil
  end
  return vim.lsp.start(vim.tbl_extend('force', config, { root_dir = root(buffer) }), { bufnr = buffer })
end

---Starts the server for files that are opened from now on, and for those that are open.
function M.enable()
  if compat.recent then
    vim.lsp.config(M.name, M.config())
    vim.lsp.enable(M.name)
    return
  end
  local function attach(buffer)
    local o = options.current
    local filetype = vim.bo[buffer].filetype
    local wanted = filetype ~= '' and (not o.filetypes or vim.list_contains(o.filetypes, filetype))
    if vim.bo[buffer].buftype == '' and wanted then
      start(buffer)
    end
  end
  vim.api.nvim_create_autocmd('FileType', {
    group = vim.api.nvim_create_augroup('agentls.attach', {}),
    callback = function(event)
      attach(event.buf)
    end,
  })
  for _, buffer in ipairs(vim.api.nvim_list_bufs()) do
    if vim.api.nvim_buf_is_loaded(buffer) then
      attach(buffer)
    end
  end
end

---The client of a buffer, else any that runs.
---@param buffer? integer
---@return vim.lsp.Client?
function M.find(buffer)
  buffer = buffer or vim.api.nvim_get_current_buf()
  local id = vim.b[buffer].agentls_client
  return id and vim.lsp.get_client_by_id(id)
    or vim.lsp.get_clients({ bufnr = buffer, name = M.name })[1]
    or vim.lsp.get_clients({ name = M.name })[1]
end

---A client that is ready, inside async.go(). Where none runs, it is started.
---@param buffer? integer
---@return vim.lsp.Client
function M.ready(buffer)
  buffer = buffer or vim.api.nvim_get_current_buf()
  local file = vim.bo[buffer].buftype == '' and vim.api.nvim_buf_get_name(buffer) ~= ''
  local client = M.find(buffer)
  if not client or file and not vim.lsp.buf_is_attached(buffer, client.id) then
    local id = start(buffer)
    if not id then
      async.fail(('the server %q could not be started; :checkhealth agentls says more'):format(options.current.cmd[1]))
    end
    client = vim.lsp.get_client_by_id(id)
  end
  while client and not client.initialized do
    async.sleep(20)
    client = vim.lsp.get_client_by_id(client.id)
  end
  if not client then
    async.fail('the server ended before it was ready; :Agentls log says why')
  end
  return client
end

---Sends a request, inside async.go(). An error of the server is shown to the user.
---@param client vim.lsp.Client
---@param method string
---@param params? table
---@return any
function M.ask(client, method, params)
  local fault, result = async.await(function(done)
    if vim.v.exiting ~= vim.NIL or compat.stopping(client) then
      return -- the server was told to shut down, and takes no more requests; nobody waits for the answer
    end
    local function answered(fault, result)
      done(fault, result)
    end
    -- An empty table would be sent as an array.
    params = params and next(params) and params or vim.empty_dict()
    if not compat.request(client, method, params, answered) then
      done({ message = 'the server has ended' })
    end
  end)
  if fault then
    local data = type(fault.data) == 'table' and fault.data or {}
    async.fail((data.detail or fault.message) .. (data.hint and '; ' .. data.hint or ''))
  end
  if result == vim.NIL then
    result = nil
  end
  return result
end

---Ends the server, and starts it again for the buffers that it had.
function M.restart()
  async.go(function()
    for _, client in ipairs(vim.lsp.get_clients({ name = M.name })) do
      local buffers = vim.tbl_keys(client.attached_buffers)
      compat.stop(client)
      while vim.lsp.get_client_by_id(client.id) do
        async.sleep(20)
      end
      for _, buffer in ipairs(buffers) do
        if vim.api.nvim_buf_is_loaded(buffer) then
          start(buffer)
        end
      end
    end
  end)
end

return M
