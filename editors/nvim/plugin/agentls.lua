-- Only the command is defined at the editor's start. Everything else is loaded when it is used.

if vim.g.loaded_agentls or vim.fn.has('nvim-0.10') == 0 then
  return
end
vim.g.loaded_agentls = true

vim.api.nvim_create_user_command('Agentls', function(arguments)
  require('agentls.command').run(arguments)
end, {
  nargs = '*',
  range = true,
  bang = true,
  desc = 'Agents on this workspace',
  complete = function(lead, line)
    return require('agentls.command').complete(lead, line)
  end,
})

for name, command in pairs({
  accept = 'accept', reject = 'reject', next = 'next', previous = 'previous', review = 'review', menu = '',
}) do
  vim.keymap.set(
    'n', '<Plug>(agentls-' .. name .. ')', '<Cmd>Agentls ' .. command .. '<CR>', { desc = 'agentls: ' .. name }
  )
end
vim.keymap.set({ 'n', 'i' }, '<Plug>(agentls-send)', '<Cmd>Agentls send<CR>', { desc = 'agentls: send' })
vim.keymap.set('x', '<Plug>(agentls-review)', ':Agentls review<CR>', { silent = true, desc = 'agentls: review' })
