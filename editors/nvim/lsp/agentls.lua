-- For vim.lsp.enable('agentls'), from Neovim 0.11 on.
return require('agentls.client').config()
