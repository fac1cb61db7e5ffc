-- The review of a proposal: a tab with the file as it is on the left, and as it would be on the right.

local async = require('agentls.async')
local client = require('agentls.client')
local options = require('agentls.options')
local proposals = require('agentls.proposals')
local ui = require('agentls.ui')

local M = {}

---@class agentls.Review
---@field client integer
---@field uri string
---@field tab integer
---@field left integer The buffer of the file.
---@field right integer The buffer of the proposed text.
---@field places agentls.Place[] In the order of the text.
---@field lines integer[] Where each of them begins in the proposed text, 0-based.
---@field heights integer[] How many lines of it are theirs.
---@field keys table[] What the keys of the review did in the file's buffer before, and what they do now.
---@field asking boolean
---@field stale boolean
---@type agentls.Review?
local review

local marks = vim.api.nvim_create_namespace('agentls.review')

local function name(uri)
  return vim.fn.fnamemodify(vim.uri_to_fname(uri), ':~:.')
end

local function lsp_of(r)
  return assert(vim.lsp.get_client_by_id(r.client))
end

local function open(r)
  return review == r and vim.api.nvim_tabpage_is_valid(r.tab) and vim.api.nvim_buf_is_valid(r.left) and vim.api.nvim_buf_is_valid(r.right)
end

-- mapped is what a key does in a buffer, as far as the buffer has a mapping of its own.
local function mapped(buffer, key)
  return vim.api.nvim_buf_call(buffer, function()
    local map = vim.fn.maparg(key, 'n', false, true)
    return map.buffer == 1 and map or nil
  end)
end

-- borrow gives keys of the user's own buffer another meaning, and keeps what they meant.
local function borrow(r, actions)
  for key, what in pairs(actions) do
    table.insert(r.keys, { key = key, action = what[1], before = mapped(r.left, key) })
  end
  ui.keys(r.left, actions)
end

-- give_back lets the keys do again what they did before. One that was mapped anew meanwhile is left alone.
local function give_back(r)
  for _, borrowed in ipairs(r.keys) do
    local now = mapped(r.left, borrowed.key)
    if now and now.callback == borrowed.action then
      vim.keymap.del('n', borrowed.key, { buffer = r.left })
      if borrowed.before then
        vim.api.nvim_buf_call(r.left, function()
          vim.fn.mapset('n', false, borrowed.before)
        end)
      end
    end
  end
  r.keys = {}
end

local function close(r)
  if review == r then
    review = nil
  end
  if vim.api.nvim_buf_is_valid(r.left) then
    give_back(r)
  end
  if vim.api.nvim_tabpage_is_valid(r.tab) then
    for _, window in ipairs(vim.api.nvim_tabpage_list_wins(r.tab)) do
      if vim.api.nvim_win_get_buf(window) == r.left then
        vim.api.nvim_win_call(window, vim.cmd.diffoff)
      end
    end
    if #vim.api.nvim_list_tabpages() > 1 then
      vim.cmd.tabclose(vim.api.nvim_tabpage_get_number(r.tab))
    end
  end
  if vim.api.nvim_buf_is_valid(r.right) then
    vim.api.nvim_buf_delete(r.right, { force = true })
  end
end

local function window_of(r, buffer)
  for _, window in ipairs(vim.api.nvim_tabpage_list_wins(r.tab)) do
    if vim.api.nvim_win_get_buf(window) == buffer then
      return window
    end
  end
end

-- render shows the proposed text: that of the file, with the open hunks in it.
local function render(r)
  local encoding = lsp_of(r).offset_encoding
  local edits, offset, free = {}, 0, 0
  r.lines, r.heights = {}, {}
  for i, place in ipairs(r.places) do
    local hunk = place.hunk
    local first, behind = proposals.lines(hunk)
    r.lines[i], r.heights[i] = first + offset, 1
    -- A conflict that can be taken is in the text, too, beside what stands in its place now.
    if first >= free and (hunk.state == 'open' or hunk.current) then
      table.insert(edits, { range = hunk.range, newText = hunk.after })
      r.heights[i] = select(2, hunk.after:gsub('\n', ''))
      offset, free = offset + r.heights[i] - (behind - first), behind
    end
  end
  local text = vim.api.nvim_create_buf(false, true)
  vim.api.nvim_buf_set_lines(text, 0, -1, false, vim.api.nvim_buf_get_lines(r.left, 0, -1, false))
  vim.lsp.util.apply_text_edits(edits, text, encoding)
  local lines = vim.api.nvim_buf_get_lines(text, 0, -1, false)
  if r.places[1].file.change == 'created' and #lines > 1 and lines[#lines] == '' then
    -- The empty line that the editor shows of an empty file.
    table.remove(lines)
  end
  ui.fill(r.right, lines)
  vim.api.nvim_buf_delete(text, { force = true })

  vim.api.nvim_buf_clear_namespace(r.right, marks, 0, -1)
  local count = vim.api.nvim_buf_line_count(r.right)
  for i, place in ipairs(r.places) do
    local hunk = place.hunk
    local note = ui.icon('◆ ', '* ') .. (hunk.agent or place.proposal.agent)
    if hunk.state == 'conflict' then
      local maps = options.current.maps
      note = ('%sconflict: %s; %s takes this, %s keeps yours'):format(
        ui.icon('✗ ', 'x '), hunk.detail or 'the text has changed', maps.accept, maps.reject
      )
    elseif hunk.reason ~= '' then
      note = note .. ': ' .. ui.short(hunk.reason, 80)
    end
    vim.api.nvim_buf_set_extmark(r.right, marks, math.min(r.lines[i], count - 1), 0, {
      virt_text = { { '  ' .. note, hunk.state == 'conflict' and 'AgentlsFailed' or 'AgentlsBadge' } },
    })
  end
  local left, right = window_of(r, r.left), window_of(r, r.right)
  local file = r.places[1].file
  local change = file.change and file.change ~= 'modified' and ' · ' .. file.change .. (file.newUri and ' to ' .. name(file.newUri) or '') or ''
  local maps = options.current.maps
  if left then
    vim.wo[left][0].winbar = '%#AgentlsTitle# ' .. name(r.uri):gsub('%%', '%%%%') .. '%* as it is'
  end
  if right then
    vim.wo[right][0].winbar = ('%%#AgentlsTitle# proposed%s · %s%%*%%<%%#AgentlsDetail#  %s accept · %s reject · %s/%s file · %s %s hunks · q close%%*'):format(
      change:gsub('%%', '%%%%'), #r.places == 1 and '1 edit' or #r.places .. ' edits', maps.accept, maps.reject, maps.accept_file, maps.reject_file, maps.next, maps.previous)
    vim.api.nvim_win_call(right, function()
      vim.cmd.diffupdate()
    end)
  end
end

---@param places agentls.Place[]
local function sorted(places)
  table.sort(places, function(a, b)
    return a.hunk.range.start.line < b.hunk.range.start.line
  end)
  return places
end

-- refresh asks for the hunks again, and goes on with the next file where none is left.
local function refresh(r)
  r.stale = true
  if r.asking then
    return
  end
  r.asking = true
  async.go(function()
    while open(r) and r.stale do
      r.stale = false
      local places = sorted(proposals.list(lsp_of(r), r.uri))
      if not open(r) then
        break
      end
      if #places == 0 then
        local others = proposals.list(lsp_of(r))
        close(r)
        if #others > 0 then
          M.open({ uri = others[1].file.uri })
        else
          vim.notify('agentls: every proposed edit is decided')
        end
        return
      end
      r.places = places
      render(r)
    end
    r.asking = false
  end)
end

-- index finds the hunk at the cursor, or the next one behind it.
local function index(r)
  local right = window_of(r, r.right)
  local at = right and vim.api.nvim_win_get_cursor(right)[1] - 1 or 0
  for i in ipairs(r.places) do
    if at < r.lines[i] + math.max(r.heights[i], 1) then
      return i
    end
  end
  return #r.places
end

local function jump(r, direction)
  local window = window_of(r, r.right)
  local at = vim.api.nvim_win_get_cursor(window)[1] - 1
  local target
  for i = 1, #r.lines do
    local line = r.lines[direction > 0 and i or #r.lines + 1 - i]
    if (line - at) * direction > 0 then
      target = line
      break
    end
  end
  target = target or r.lines[direction > 0 and 1 or #r.lines]
  vim.api.nvim_win_set_cursor(window, { math.min(target + 1, vim.api.nvim_buf_line_count(r.right)), 0 })
end

---Accepts or rejects in the review, where the cursor is in one.
---@param what 'accept'|'reject'
---@param scope? string
---@return boolean
function M.decide(what, scope)
  local r = review
  if not r or not open(r) or vim.api.nvim_get_current_buf() ~= r.right then
    return false
  end
  async.go(function()
    local place = r.places[index(r)]
    local params = { proposal = place.proposal.id }
    if scope == 'file' then
      params.files = { r.uri }
    elseif scope ~= 'all' then
      params.hunks = { place.hunk.id }
      -- Both sides are on the screen.
      params.overwrite = what == 'accept' and place.hunk.state == 'conflict' or nil
    end
    proposals[what](lsp_of(r), params)
    if open(r) then
      refresh(r)
    end
  end)
  return true
end

local function keys(r)
  local maps = options.current.maps
  local function decide(what, scope)
    return function()
      M.decide(what, scope)
    end
  end
  local function go(direction)
    return function()
      jump(r, direction)
    end
  end
  ui.keys(r.right, {
    [maps.accept] = { decide('accept'), 'Accept this edit' },
    [maps.reject] = { decide('reject'), 'Reject this edit' },
    [maps.accept_file] = { decide('accept', 'file'), 'Accept all edits of the file' },
    [maps.reject_file] = { decide('reject', 'file'), 'Reject all edits of the file' },
    [maps.next] = { go(1), 'To the next edit' },
    [maps.previous] = { go(-1), 'To the edit before' },
    q = {
      function()
        close(r)
      end,
      'Close the review',
    },
  })
  borrow(r, { [maps.next] = { go(1), 'To the next edit' }, [maps.previous] = { go(-1), 'To the edit before' } })
end

local function show(lsp, uri, places)
  if review then
    close(review)
  end
  local file = places[1].file
  vim.cmd.tabnew()
  local blank = vim.api.nvim_get_current_buf()
  local left
  if file.change == 'created' and vim.fn.bufloaded(vim.uri_to_fname(uri)) == 0 then
    left = vim.api.nvim_create_buf(false, true)
    vim.bo[left].bufhidden = 'wipe'
  else
    left = vim.uri_to_bufnr(uri)
    vim.fn.bufload(left)
    vim.bo[left].buflisted = true
  end
  vim.api.nvim_win_set_buf(0, left)
  if vim.api.nvim_buf_get_name(blank) == '' and not vim.bo[blank].modified then
    pcall(vim.api.nvim_buf_delete, blank, {})
  end
  local right = ui.scratch('agentls://proposed/' .. name(uri), lsp)
  vim.bo[right].filetype = vim.bo[left].filetype ~= '' and vim.bo[left].filetype or vim.filetype.match({ filename = vim.uri_to_fname(uri) }) or ''
  vim.bo[right].bufhidden = 'wipe'
  vim.cmd('rightbelow vsplit')
  vim.api.nvim_win_set_buf(0, right)
  local r = {
    client = lsp.id,
    uri = uri,
    tab = vim.api.nvim_get_current_tabpage(),
    left = left,
    right = right,
    places = places,
    lines = {},
    heights = {},
    keys = {},
    asking = false,
    stale = false,
  }
  review = r
  keys(r)
  render(r)
  for _, buffer in ipairs({ left, right }) do
    vim.api.nvim_win_call(assert(window_of(r, buffer)), function()
      vim.cmd.diffthis()
      vim.wo.foldlevel = 1
    end)
  end
  vim.api.nvim_win_set_cursor(0, { math.min(r.lines[1] + 1, vim.api.nvim_buf_line_count(right)), 0 })
  local group = vim.api.nvim_create_augroup('agentls.review', {})
  vim.api.nvim_create_autocmd({ 'TextChanged', 'InsertLeave' }, {
    group = group,
    buffer = left,
    callback = function()
      if open(r) then
        refresh(r)
      end
    end,
  })
  -- However the user closes it.
  vim.api.nvim_create_autocmd('BufWipeout', {
    group = group,
    buffer = right,
    callback = vim.schedule_wrap(function()
      if review == r then
        close(r)
      end
    end),
  })
  vim.api.nvim_create_autocmd('User', {
    group = group,
    pattern = 'AgentlsEvent',
    callback = function(args)
      local event = args.data.event
      if event and event.type == 'ProposalChanged' and open(r) then
        refresh(r)
      end
    end,
  })
end

---Reviews what is proposed, the current file first. Where several files are left, the user chooses.
---@param about? { uri?: string, run?: agentls.RunID }
function M.open(about)
  about = about or {}
  local current = vim.uri_from_bufnr(0)
  async.go(function()
    local lsp = client.ready()
    require('agentls.live').subscribe(lsp)
    local files, order = {}, {}
    for _, place in ipairs(proposals.list(lsp)) do
      if not about.run or place.hunk.run == about.run or place.proposal.run == about.run then
        local uri = place.file.uri
        if not files[uri] then
          files[uri] = {}
          table.insert(order, uri)
        end
        table.insert(files[uri], place)
      end
    end
    if #order == 0 then
      vim.notify('agentls: no edit is proposed' .. (about.run and ' by this run' or ''))
      return
    end
    local uri = about.uri or #order == 1 and order[1] or files[current] and current
    uri = uri or async.await(function(done)
      ui.select(order, {
        prompt = 'Proposed edits',
        kind = 'agentls.file',
        format_item = function(item)
          local count = #files[item]
          local change = files[item][1].file.change
          return ('%s  %s%s'):format(
            name(item), count == 1 and '1 edit' or count .. ' edits',
            change and change ~= 'modified' and ', ' .. change or ''
          )
        end,
      }, done)
    end)
    if uri and files[uri] then
      show(lsp, uri, sorted(files[uri]))
    end
  end)
end

return M
