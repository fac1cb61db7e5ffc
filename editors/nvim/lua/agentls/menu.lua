-- A menu in a window of its own, for those who have not replaced vim.ui.select: its built-in form stops the editor.

local M = {}

-- How long a menu that opens by itself takes no key, so that nobody answers with what was meant for the text.
local guard = 600

local labels = '123456789abcdefghilmnoprstuvwxyz'

---See ui.select().
function M.open(items, opts, chosen)
  local ui = require('agentls.ui')
  local width = math.max(30, math.min(vim.o.columns - 8, 90))
  local lines, rows = {}, {}
  for _, paragraph in ipairs(vim.split(opts.detail or '', '\n', { trimempty = true })) do
    repeat
      local cut = vim.fn.strcharpart(paragraph, 0, width - 2)
      table.insert(lines, { { ' ' .. cut, 'AgentlsDetail' } })
      paragraph = paragraph:sub(#cut + 1)
    until paragraph == '' or #lines > vim.o.lines / 2
  end
  if #lines > 0 then
    table.insert(lines, { { '' } })
  end
  for i, item in ipairs(items) do
    local text = opts.format_item and opts.format_item(item) or tostring(item)
    table.insert(
      lines,
      { { ' ' .. (i <= #labels and labels:sub(i, i) or ' ') .. ' ', 'AgentlsKey' }, { ' ' .. ui.cut(text, width - 5) } }
    )
    rows[#lines] = i
  end
  local longest = vim.fn.strdisplaywidth(opts.prompt) + 4
  for _, pieces in ipairs(lines) do
    longest = math.max(longest, vim.fn.strdisplaywidth(table.concat(vim.tbl_map(function(piece)
      return piece[1]
    end, pieces))) + 1)
  end
  width = math.min(width, longest)
  local height = math.min(#lines, math.max(3, vim.o.lines - 6))

  local buffer = vim.api.nvim_create_buf(false, true)
  vim.bo[buffer].bufhidden, vim.bo[buffer].filetype = 'wipe', 'agentls-menu'
  ui.paint(buffer, lines)
  local former = vim.api.nvim_get_current_win()
  local window = vim.api.nvim_open_win(buffer, true, {
    relative = 'editor',
    row = math.max(0, math.floor((vim.o.lines - height) / 2) - 2),
    col = math.max(0, math.floor((vim.o.columns - width) / 2)),
    width = width,
    height = height,
    style = 'minimal',
    border = 'rounded',
    title = ' ' .. ui.short(opts.prompt, width - 2) .. ' ',
  })
  vim.wo[window].cursorline, vim.wo[window].wrap = true, false
  for row = 1, #lines do
    -- Where it opens by itself, a line must be chosen first.
    if rows[row] and not (opts.guarded and row > 1) then
      vim.api.nvim_win_set_cursor(window, { row, 0 })
      break
    end
  end

  local opened, open = vim.uv.hrtime(), true
  local function close(item)
    if not open then
      return
    end
    open = false
    if vim.api.nvim_win_is_valid(window) then
      vim.api.nvim_win_close(window, true)
    end
    if vim.api.nvim_win_is_valid(former) then
      vim.api.nvim_set_current_win(former)
    end
    chosen(item)
  end
  local function key(lhs, action)
    vim.keymap.set('n', lhs, function()
      if not opts.guarded or vim.uv.hrtime() - opened > guard * 1e6 then
        action()
      end
    end, { buffer = buffer, nowait = true })
  end
  for i, item in ipairs(items) do
    if i <= #labels then
      key(labels:sub(i, i), function()
        close(item)
      end)
    end
  end
  key('<CR>', function()
    local at = rows[vim.api.nvim_win_get_cursor(window)[1]]
    if at then
      close(items[at])
    end
  end)
  for _, lhs in ipairs({ 'q', '<Esc>', '<C-c>' }) do
    key(lhs, function()
      close()
    end)
  end
  vim.api.nvim_create_autocmd('WinClosed', {
    pattern = tostring(window),
    once = true,
    callback = function()
      vim.schedule(close)
    end,
  })
  return close
end

return M
