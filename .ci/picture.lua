-- Makes a picture of Neovim as an SVG: what a terminal of this size would show, cell by cell. Without the folder of the plugin it shows a
-- review by Neovim alone, with it a team of agents.
--
--   nvim --clean --headless -l picture.lua PICTURE.svg FILE [PLUGIN]      with AGENTLS_BIN set, in a copy of the sample project

local picture, file, plugin = _G.arg[1], _G.arg[2], _G.arg[3]
assert(file, 'usage: nvim -l picture.lua PICTURE.svg FILE [PLUGIN]')
local columns, rows = 150, 47
local socket = vim.fn.tempname()
local output, fresh = {}, false
local command = { vim.v.progpath, '--clean', '-n', '--cmd', 'set termguicolors background=dark', '--cmd', 'syntax on', '--listen', socket }
if plugin then
  vim.list_extend(command, { '--cmd', 'set runtimepath^=' .. plugin })
end
local editor = vim.fn.jobstart(command, {
  pty = true,
  on_stdout = function(_, data)
    fresh = true
    -- The pieces of the list are lines; the line feeds between them are part of the output.
    table.insert(output, table.concat(data, '\n'))
  end,
  width = columns,
  height = rows,
  env = { TERM = 'xterm-256color', COLORTERM = 'truecolor' },
})
local function wait(what, condition)
  assert(vim.wait(60000, condition, 20), 'no picture, waited in vain for ' .. what)
end
wait('the editor', function()
  return vim.uv.fs_stat(socket) ~= nil
end)
local channel = vim.fn.sockconnect('pipe', socket, { rpc = true })
wait('its terminal', function()
  return #vim.rpcrequest(channel, 'nvim_list_uis') > 0 and vim.rpcrequest(channel, 'nvim_get_vvar', 'vim_did_enter') == 1
end)
local function lua(code, ...)
  return vim.rpcrequest(channel, 'nvim_exec_lua', code, { ... })
end

-- open shows the file, and waits until the server that start starts has it.
local function open(start)
  lua([[
    vim.o.number, vim.o.signcolumn, vim.o.laststatus = true, 'yes', 3
    vim.diagnostic.config({ virtual_text = { prefix = '●' }, signs = true, severity_sort = true })
    vim.cmd.edit(...)
  ]], file)
  lua(start)
  wait('the server', function()
    return lua([[local client = vim.lsp.get_clients({ bufnr = 0 })[1] return client ~= nil and client.initialized or false]])
  end)
end

-- alone reviews the file by what Neovim has itself.
local function alone()
  open([[
    vim.o.statusline = ' %f %m%=%{v:lua.said()} '
    local runs = {}
    function _G.said()
      local parts = {}
      for _, run in ipairs(runs) do
        table.insert(parts, run.title .. ' ' .. (run.percentage or 0) .. '% ' .. (run.message or ''))
      end
      return table.concat(parts, ' | ')
    end
    vim.api.nvim_create_autocmd('LspProgress', { callback = function(event)
      local params = event.data.params
      local run = runs[params.token] or { title = params.value.title }
      if not runs[params.token] then
        runs[params.token] = run
        table.insert(runs, run)
      end
      run.percentage, run.message = params.value.percentage or run.percentage, params.value.message or run.message
      if params.value.kind == 'end' then
        run.percentage, _G.ended = 100, true
      end
      vim.cmd.redrawstatus()
    end })
    vim.lsp.start({ name = 'agentls', cmd = { vim.env.AGENTLS_BIN, 'serve' }, root_dir = vim.fn.getcwd() })
  ]])
  lua([[vim.lsp.buf.code_action({ apply = true, filter = function(action) return action.title == 'agentls: Review this file' end })]])
  wait('the review', function()
    return lua([[return _G.ended == true and #vim.diagnostic.get(0) > 1]])
  end)
  -- What can be done about the first finding that has a fix, in the editor's own menu.
  lua([[
    local place = vim.iter(vim.diagnostic.get(0)):find(function(diagnostic) return diagnostic.code == 'proposal' end)
    vim.api.nvim_win_set_cursor(0, { place.lnum + 1, place.col })
    vim.cmd.mode()
    vim.schedule(vim.lsp.buf.code_action)
  ]])
end

-- team has agents review the workspace by way of the plugin, and shows their tree beside what they propose for the file.
local function team()
  open([[
    vim.o.statusline = ' %f %m%=%{v:lua.require("agentls").statusline()} '
    require('agentls').setup({ cmd = { vim.env.AGENTLS_BIN, 'serve' }, answers = false })
  ]])
  lua([[
    vim.cmd('Agentls run @coder Review everything in this workspace.')
    vim.cmd('Agentls tree')
  ]])
  wait('the review', function()
    return lua([[return vim.bo.filetype == 'agentls-tree' and vim.fn.search('✓.*coder', 'nw') > 0 and #vim.diagnostic.get(vim.fn.bufnr(...)) > 1]], file)
  end)
  lua([[
    vim.api.nvim_win_set_height(0, 12)
    vim.api.nvim_set_current_win(vim.fn.bufwinid(vim.fn.bufnr(...)))
    vim.api.nvim_win_set_cursor(0, { 20, 4 })
    vim.cmd.mode()
  ]], file)
end

(plugin and team or alone)()
-- The terminal paints a little after the editor: all is there when nothing more comes.
repeat
  fresh = false
  vim.wait(1000, function()
    return fresh
  end, 20)
until not fresh
vim.fn.jobstop(editor)

-- screen does what a terminal does with the last full painting: it knows the few sequences that Neovim paints with.
local function screen(text)
  local cells, row, column = {}, 1, 1
  local look, top, bottom = {}, 1, rows
  local function blank()
    local line = {}
    for c = 1, columns do
      line[c] = { ' ', { bg = look.bg } }
    end
    return line
  end
  for r = 1, rows do
    cells[r] = blank()
  end
  local function scroll(times)
    for _ = 1, times do
      table.remove(cells, top)
      table.insert(cells, bottom, blank())
    end
  end
  local function put(char, times)
    for _ = 1, times do
      if row <= rows and column <= columns then
        cells[row][column] = { char, look }
        column = column + 1
      end
    end
  end
  local function style(parameters)
    local codes = vim.split(parameters == '' and '0' or parameters, '[;:]')
    look = vim.deepcopy(look)
    local i = 1
    while i <= #codes do
      local code = tonumber(codes[i]) or 0
      if code == 0 then
        look = {}
      elseif code == 1 then
        look.bold = true
      elseif code == 4 then
        look.underline = codes[i + 1] ~= '0' or nil
        break
      elseif code == 7 then
        look.reverse = true
      elseif code == 24 or code == 22 or code == 27 then
        look[({ [22] = 'bold', [24] = 'underline', [27] = 'reverse' })[code] ] = nil
      elseif code == 38 or code == 48 then
        look[code == 38 and 'fg' or 'bg'] = string.format('#%02x%02x%02x', codes[i + 2], codes[i + 3], codes[i + 4])
        i = i + 4
      elseif code == 58 then
        break -- the colour of the underline
      elseif code == 39 then
        look.fg = nil
      elseif code == 49 then
        look.bg = nil
      end
      i = i + 1
    end
  end
  local at = 1
  while at <= #text do
    local parameters, final, behind = text:match('^\27%[([%d;:?>]*)[ "\'$]*(%a)()', at)
    if final then
      local first, second = parameters:match('^(%d*);?(%d*)')
      first, second = tonumber(first), tonumber(second)
      if final == 'H' then
        row, column = first or 1, second or 1
      elseif final == 'A' then
        row = row - (first or 1)
      elseif final == 'B' then
        row = row + (first or 1)
      elseif final == 'D' then
        column = column - (first or 1)
      elseif final == 'C' then
        column = column + (first or 1)
      elseif final == 'G' then
        column = first or 1
      elseif final == 'd' then
        row = first or 1
      elseif final == 'm' and not parameters:find('[?>]') then
        style(parameters)
      elseif final == 'K' or final == 'X' then
        local back = column
        put(' ', final == 'X' and (first or 1) or columns - column + 1)
        column = back
      elseif final == 'b' then
        local char = cells[row][column - 1][1]
        put(char, first or 1)
      elseif final == 'J' then
        for r = first == 2 and 1 or row, rows do
          cells[r] = blank()
        end
      elseif final == 'r' and not parameters:find('[?>]') then
        top, bottom = first or 1, second or rows
        row, column = 1, 1
      elseif final == 'S' then
        scroll(first or 1)
      elseif final == 'M' then
        for _ = 1, first or 1 do
          table.remove(cells, row)
          table.insert(cells, bottom, blank())
        end
      elseif final == 'L' then
        for _ = 1, first or 1 do
          table.remove(cells, bottom)
          table.insert(cells, row, blank())
        end
      end
      at = behind
    elseif text:match('^\27[%]P_]', at) then
      at = (text:match('^\27[%]P_].-\27\\()', at) or text:match('^\27%].-\7()', at) or #text + 1)
    elseif text:match('^\27', at) then
      at = text:match('^\27[%(%)]?.()', at) or at + 1
    elseif text:match('^\r', at) then
      column, at = 1, at + 1
    elseif text:match('^\n', at) then
      if row == bottom then
        scroll(1)
      else
        row = row + 1
      end
      at = at + 1
    elseif text:match('^\b', at) then
      column, at = column - 1, at + 1
    else
      local char = text:match('^[%z\1-\127]', at) or text:match('^[\194-\244][\128-\191]*', at) or '?'
      put(char, 1)
      at = at + #char
    end
  end
  return cells
end
local cells = screen(table.concat(output))

local width, height = 8.4, 18
local foreground, background = '#e0e2ea', '#14161b'
local function escaped(text)
  return (text:gsub('[&<>]', { ['&'] = '&amp;', ['<'] = '&lt;', ['>'] = '&gt;' }))
end
local svg = {
  string.format('<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" font-family="ui-monospace, SFMono-Regular, Menlo, DejaVu Sans Mono, monospace" font-size="14">', columns * width, rows * height),
  '<rect width="100%" height="100%" fill="' .. background .. '"/>',
}
for row, line in ipairs(cells) do
  local column = 1
  while column <= #line do
    local first, text, look = column, '', line[column][2]
    while column <= #line and vim.deep_equal(line[column][2], look) do
      text = text .. line[column][1]
      column = column + 1
    end
    local fg, bg = look.fg or foreground, look.bg or background
    if look.reverse then
      fg, bg = bg, fg
    end
    local x, y = (first - 1) * width, (row - 1) * height
    if bg ~= background then
      table.insert(svg, string.format('<rect x="%.1f" y="%d" width="%.1f" height="%d" fill="%s"/>', x, y, (column - first) * width, height, bg))
    end
    local lead, words = text:match('^(%s*)(.-)%s*$')
    if words ~= '' then
      table.insert(svg, string.format('<text x="%.1f" y="%.1f" fill="%s"%s%s textLength="%.1f" xml:space="preserve">%s</text>',
        x + #lead * width, y + 13.5, fg, look.bold and ' font-weight="bold"' or '', look.underline and ' text-decoration="underline"' or '',
        vim.fn.strchars(words) * width, escaped(words)))
    end
  end
end
table.insert(svg, '</svg>\n')
local out = assert(io.open(picture, 'w'))
out:write(table.concat(svg, '\n'))
out:close()
