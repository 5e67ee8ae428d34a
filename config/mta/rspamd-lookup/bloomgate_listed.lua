-- Asks Bloomgate (lookup-socket = 127.0.0.1:9813) whether the sender is listed for all recipients, and says so by a symbol
-- of weight 0. The symbol is no permission: nobody has proven who sent the message. So let nothing be skipped by it alone.
-- No answer within 2 seconds counts as "not listed".
local rspamd_http = require "rspamd_http"
local rspamd_logger = require "rspamd_logger"

local URL = "http://127.0.0.1:9813/senders"

-- One word for each line that was asked.
local function all_are_listed(body, count)
  local listed = 0
  for word in tostring(body):gmatch("%a+") do
    if word ~= "listed" then return false end
    listed = listed + 1
  end
  return listed == count
end

rspamd_config.BLOOMGATE_LISTED = {
  score = 0.0,
  description = "Bloomgate has the envelope sender on a list, which proves nothing of who sent it",
  callback = function(task)
    local from = task:get_from("smtp")
    local recipients = task:get_recipients("smtp")
    if not from or not from[1] or from[1].addr == "" or not recipients or #recipients == 0 then return end
    local lines = {}
    for _, recipient in ipairs(recipients) do
      lines[#lines + 1] = from[1].addr .. " > " .. recipient.addr
    end
    rspamd_http.request({
      task = task,
      url = URL,
      method = "post",
      mime_type = "text/plain",
      body = table.concat(lines, "\n"),
      timeout = 2.0,
      callback = function(err, code, body)
        if err or code ~= 200 then
          rspamd_logger.warnx(task, "Bloomgate was not asked: %s", err or code)
        elseif all_are_listed(body, #lines) then
          task:insert_result("BLOOMGATE_LISTED", 1.0)
        end
      end,
    })
  end,
}
