-- Runs the story that AGENTLS_E2E_STORY names once Neovim has started, and ends Neovim: with code 0 when the
-- story returns, with code 1 and the error on stderr when it fails.

local function say(text)
  io.stderr:write(text, '\n')
  io.stderr:flush()
end

-- Everything that a story may use beside Neovim's own functions.
_G.e2e = {
  say = say,
  -- wait processes events until the condition holds; `what` says in the error what did not come.
  wait = function(what, condition)
    if not vim.wait(120000, condition, 20) then
      error('waited two minutes in vain for ' .. what, 2)
    end
    say('  ' .. what)
  end,
  check = function(condition, ...)
    if not condition then
      error(string.format(...), 2)
    end
  end,
}

vim.api.nvim_create_autocmd('VimEnter', {
  once = true,
  callback = vim.schedule_wrap(function()
    local ok, fault = xpcall(dofile, debug.traceback, vim.env.AGENTLS_E2E_STORY)
    if not ok then
      say('story failed: ' .. fault)
      vim.cmd('cquit 1')
    end
    vim.cmd('qall!')
  end),
})
