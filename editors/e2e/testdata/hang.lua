-- A story that never ends.
e2e.say('hanging')
while true do
  vim.wait(1000)
end
