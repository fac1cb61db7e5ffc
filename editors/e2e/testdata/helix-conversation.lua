-- A conversation in Helix, by code actions alone. This release of Helix opens no document for a server, which then says
-- where it is.

local say = e2e.say
local here = vim.fs.dirname(vim.env.AGENTLS_E2E_STORY)
local helix, talk = dofile(vim.fs.joinpath(here, 'helix-keys.lua')), dofile(vim.fs.joinpath(here, 'talk.lua'))
local terminal = helix.terminal
local keys = terminal.keys

say('open a conversation')
helix.start('cart.go', { 'go', 'markdown' })
terminal.see('package cart')
helix.command('agentls.conversation')
terminal.see('agentls: the conversation is in ')
keys(':open ' .. vim.fn.glob(talk.folder .. '/*.agentls.md') .. '<CR>')

-- normal leaves insert mode. An Escape right before another key would be Alt with that key.
local function normal()
  if terminal.count(' INS ') > 0 then
    keys('<Esc>')
    terminal.see(' NOR ')
  end
end

local before = '' -- what is pasted before the coming text

talk.play(terminal, {
  -- It sends its changes one after the other, but those of keys that come at once in any order.
  write = function(text)
    keys('<Esc>[200~' .. before .. text .. '<Esc>[201~')
    before = ''
  end,
  prompt = function(first)
    normal()
    keys(first and 'gei' or 'geA')
    before = first and '' or '\n' -- a new line by a key would be a change of its own
    terminal.see(' INS ')
  end,
  send = function()
    normal()
    helix.choose('Send')
  end,
  back = function()
    normal()
    keys('/You asked for<CR>')
    helix.choose('Go back to before this')
  end,
  accept = function()
    normal()
    keys('gg/It is a sentence<CR>')
    helix.choose('Accept 1 edit')
  end,
  file = function()
    keys(':open cart.go<CR>')
  end,
  save = function()
    normal()
    keys(':wa<CR>')
  end,
})
say('leave')
-- Helix takes what it has just saved for the work of others, for a moment.
e2e.wait('it to leave', function()
  keys(':qa!<CR>')
  return vim.wait(1000, function()
    return terminal.code
  end, 20)
end)
terminal.finish()
