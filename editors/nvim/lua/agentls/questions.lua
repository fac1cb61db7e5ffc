-- What agents want to know of the user.

local async = require('agentls.async')
local prompts = require('agentls.prompts')

local M = {}

local function write(question)
  local text = async.await(function(done)
    vim.ui.input({ prompt = question.agent .. ': ' .. question.question .. ' ' }, vim.schedule_wrap(done))
  end)
  return text and text ~= '' and text or nil
end

---@param question agentls.Question
---@return agentls.QuestionAnswer?
function M.prompt(question)
  local choices = question.choices or {}
  if #choices == 0 then
    local text = write(question)
    return text and { answers = { text } }
  end
  local chosen = {}
  while true do
    local items = vim.tbl_filter(function(choice)
      return not vim.list_contains(chosen, choice.label)
    end, choices)
    if question.freeText then
      table.insert(items, { label = 'Something else…', other = true })
    end
    if #chosen > 0 then
      table.insert(items, 1, { label = 'That is all', enough = true })
    end
    local item = prompts.choose(items, {
      prompt = question.agent .. ': ' .. question.question,
      kind = 'agentls.question',
      detail = #chosen > 0 and 'So far: ' .. table.concat(chosen, ', ') or nil,
      format_item = function(choice)
        return choice.label .. (choice.description and choice.description ~= '' and '  ' .. choice.description or '')
      end,
    }, function(close)
      require('agentls.asks').shown(question.id, close)
    end)
    if not item then
      return nil
    end
    if item.enough then
      return { answers = chosen }
    end
    local text = item.label
    if item.other then
      text = write(question)
    end
    if text then
      table.insert(chosen, text)
      if not question.multiple then
        return { answers = chosen }
      end
    end
  end
end

---Answers agent/question.
---@param question agentls.Question
function M.handle(question)
  return M.prompt(question) or vim.NIL
end

return M
