-- Sets the editor up for a picture, and reviews the open file in it. See .ci/picture.

vim.o.termguicolors, vim.o.number, vim.o.signcolumn, vim.o.laststatus = true, true, 'yes', 3
vim.o.statusline = ' %f %m%=%{v:lua.picture.status()} '
vim.diagnostic.config({ virtual_text = { prefix = '●' }, signs = true, severity_sort = true })

_G.picture = {}
local progress = {}

-- status is the last that each run has said of itself.
function picture.status()
  local said = {}
  for _, run in ipairs(progress) do
    local mark = run.ended and 'done' or (run.percentage and run.percentage .. '%' or '…')
    table.insert(said, string.format('%s: %s %s', run.title or '', run.message or '', mark))
  end
  return table.concat(said, ' | ')
end

vim.api.nvim_create_autocmd('LspProgress', {
  callback = function(event)
    local params = event.data.params
    local run = progress[params.token]
    if not run then
      run = {}
      progress[params.token] = run
      table.insert(progress, run)
    end
    run.title = params.value.title or run.title
    run.message = params.value.message or run.message
    run.percentage = params.value.percentage or run.percentage
    run.ended = params.value.kind == 'end'
    vim.cmd('redrawstatus')
  end,
})

vim.lsp.config('agentls', { cmd = { 'agentls', 'serve' }, filetypes = { 'go' }, root_markers = { 'go.mod' } })
vim.lsp.enable('agentls')

-- review runs the code action and returns 'ready' when its findings and a proposal are on the screen, else what is missing.
function picture.review()
  local function wait(condition)
    return vim.wait(30000, condition, 20)
  end
  if not wait(function()
    local client = vim.lsp.get_clients({ bufnr = 0 })[1]
    return client and client.initialized
  end) then
    return 'the server did not attach'
  end
  vim.lsp.inlay_hint.enable(true)
  vim.lsp.buf.code_action({
    apply = true,
    filter = function(action)
      return action.title == 'agentls: Review this file'
    end,
  })
  if not wait(function()
    return #progress > 0 and progress[1].ended
  end) then
    return 'the review did not end'
  end
  if not wait(function()
    return #vim.diagnostic.get(0) > 1
  end) then
    return 'there are no findings'
  end
  vim.api.nvim_win_set_cursor(0, { vim.diagnostic.get(0)[1].lnum + 1, 0 })
  vim.cmd('redraw!')
  return 'ready'
end
