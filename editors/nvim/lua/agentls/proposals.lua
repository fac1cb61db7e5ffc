-- Proposed edits: which are there, and what becomes of them.

local async = require('agentls.async')
local client = require('agentls.client')
local methods = require('agentls.protocol').methods

local M = {}

---@class agentls.Place A hunk with what it is in.
---@field proposal agentls.Proposal
---@field file agentls.ProposalFile
---@field hunk agentls.Hunk

---Whether a hunk waits for the user.
---@param hunk agentls.Hunk
function M.undecided(hunk)
  return hunk.state == 'open' or hunk.state == 'conflict'
end

---The hunks that wait for the user, inside async.go().
---@param lsp vim.lsp.Client
---@param uri? string Only of this document.
---@return agentls.Place[]
function M.list(lsp, uri)
  local places = {}
  for _, proposal in ipairs(client.ask(lsp, methods.Proposals).proposals) do
    for _, file in ipairs(proposal.files) do
      for _, hunk in ipairs(file.hunks) do
        if (not uri or file.uri == uri) and M.undecided(hunk) then
          table.insert(places, { proposal = proposal, file = file, hunk = hunk })
        end
      end
    end
  end
  return places
end

---The lines that a hunk replaces, 0-based; both are the same where it only inserts.
---@param hunk agentls.Hunk
---@return integer first, integer behind
function M.lines(hunk)
  local range = hunk.range
  return range.start.line, range['end'].line + (range['end'].character > 0 and 1 or 0)
end

local function told(failures)
  for _, failure in ipairs(failures) do
    vim.notify('agentls: not done: ' .. failure.reason, vim.log.levels.WARN)
  end
end

---Has hunks accepted, inside async.go().
---@param lsp vim.lsp.Client
---@param params agentls.AcceptParams
---@return integer count
function M.accept(lsp, params)
  local result = client.ask(lsp, methods.AcceptProposal, params)
  told(result.failed)
  return #result.applied
end

---Has hunks rejected, inside async.go().
---@param lsp vim.lsp.Client
---@param params agentls.ProposalParams
---@return integer count
function M.reject(lsp, params)
  local result = client.ask(lsp, methods.RejectProposal, params)
  told(result.failed)
  return #result.rejected
end

---Takes accepted edits of a run back, inside async.go().
---@param lsp vim.lsp.Client
---@param run agentls.RunID
function M.undo(lsp, run)
  local result = client.ask(lsp, methods.Undo, { run = run })
  told(result.failed)
  local count = #result.applied
  vim.notify(('agentls: %s taken back'):format(count == 0 and 'nothing was' or count == 1 and '1 edit' or count .. ' edits'))
end

---Goes back to before the prompt of a run, if the user wants it, inside async.go().
---@param lsp vim.lsp.Client
---@param run { id: agentls.RunID, title: string }
---@param conversation? string The URI of the document out of which the answer is to go, too.
function M.rewind(lsp, run, conversation)
  local sure = async.await(function(done)
    require('agentls.ui').select({ 'Go back', 'Leave it' }, {
      prompt = ('Go back to before %q? What came of it is rejected, or taken back.'):format(run.title),
      kind = 'agentls.rewind',
    }, done)
  end)
  if sure ~= 'Go back' then
    return
  end
  local method = conversation and methods.RewindConversation or methods.Rewind
  local result = client.ask(lsp, method, { uri = conversation, run = run.id })
  told(result.failed)
  vim.notify(('agentls: went back to before %q: %d rejected, %d taken back'):format(
    run.title, #result.rejected, #result.undone
  ))
end

---Proposes again what was gone back behind, inside async.go().
---@param lsp vim.lsp.Client
---@param run agentls.RunInfo
function M.restore(lsp, run)
  local result = client.ask(lsp, methods.Restore, { run = run.id })
  told(result.failed)
  vim.notify(('agentls: brought back what came of %q: %d proposed again'):format(run.title, #result.proposed))
end

-- touching are the hunks on lines, 1-based.
local function touching(places, first, last)
  return vim.tbl_filter(function(place)
    local from, behind = M.lines(place.hunk)
    return from + 1 <= last and math.max(behind, from + 1) >= first
  end, places)
end

---Accepts or rejects what the words of a command name: the hunks on the lines, `file`, or `all`.
---@param what 'accept'|'reject'
---@param scope? string
---@param first integer 1-based
---@param last integer
function M.decide(what, scope, first, last)
  local buffer = vim.api.nvim_get_current_buf()
  local reviewed = require('agentls.review').decide(what, scope)
  if reviewed then
    return
  end
  async.go(function()
    local lsp = client.ready(buffer)
    local uri = vim.uri_from_bufnr(buffer)
    local places = M.list(lsp, scope ~= 'all' and uri or nil)
    if scope ~= 'all' and scope ~= 'file' then
      places = touching(places, first, last)
    end
    if #places == 0 then
      async.fail(('no edit is proposed %s; :Agentls proposals lists them'):format(scope == 'all' and 'now' or scope == 'file' and 'for this file' or 'for this line'))
    end
    local hunks = {}
    for _, place in ipairs(places) do
      hunks[place.proposal.id] = hunks[place.proposal.id] or {}
      table.insert(hunks[place.proposal.id], place.hunk.id)
    end
    for proposal, ids in pairs(hunks) do
      M[what](lsp, { proposal = proposal, hunks = ids })
    end
  end)
end

---Goes to the next hunk of the buffer, or the one before.
---@param direction 1|-1
function M.jump(direction)
  local buffer, window = vim.api.nvim_get_current_buf(), vim.api.nvim_get_current_win()
  async.go(function()
    local lsp = client.ready(buffer)
    local at = vim.api.nvim_win_get_cursor(window)[1]
    local best, first
    for _, place in ipairs(M.list(lsp, vim.uri_from_bufnr(buffer))) do
      local line = M.lines(place.hunk) + 1
      local ahead = (line - at) * direction
      if ahead > 0 and (not best or ahead < (best - at) * direction) then
        best = line
      end
      if not first or (line - first) * direction < 0 then
        first = line
      end
    end
    best = best or first
    if not best then
      async.fail('no edit is proposed for this file')
    end
    vim.cmd("normal! m'")
    vim.api.nvim_win_set_cursor(window, { math.min(best, vim.api.nvim_buf_line_count(buffer)), 0 })
  end)
end

return M
