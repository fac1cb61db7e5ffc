-- A story that leaves a process behind.
vim.uv.spawn('sleep', { args = { '1000' }, detached = true }, function() end)
