-- What the dialogues share, and their start: miltertest runs this file, and this file runs the dialogue.
-- Every function ends the dialogue with an error where something is not as it should be.

SMFIC_EOM = string.byte("E")  -- miltertest has no name for it

function expect(what, got, want)
  if got ~= want then
    error(what .. ": expected '" .. tostring(want) .. "', got '" .. tostring(got) .. "'", 2)
  end
end

function expect_match(what, got, pattern)
  if got == nil or not string.find(got, pattern) then
    error(what .. ": expected a match of '" .. pattern .. "', got '" .. tostring(got) .. "'", 2)
  end
end

-- Miltertest's functions return nil, or what went wrong.
function done(fault)
  if fault ~= nil then error(fault, 2) end
end

function connect()
  local conn = mt.connect(socket)
  if conn == nil then error("cannot connect to " .. socket) end
  return conn
end

-- The client's connection and greeting. Miltertest makes up its own where a dialogue does not, but only just
-- before MAIL, which is too late for macros of MAIL.
function greet(conn, address)
  done(mt.conninfo(conn, "client.example", address or "192.0.2.1"))
  done(mt.helo(conn, "client.example"))
end

-- A connection of a mail server that knows version 2 of the protocol only, and so waits for an answer to
-- each step: what was sent has been dealt with.
function connect_in_step()
  local conn = connect()
  local steps = SMFIP_NOCONNECT | SMFIP_NOHELO | SMFIP_NOMAIL | SMFIP_NORCPT | SMFIP_NOBODY | SMFIP_NOHDRS |
                SMFIP_NOEOH
  done(mt.negotiate(conn, 2, steps, SMFIF_ADDHDRS | SMFIF_CHGHDRS))
  return conn
end

-- A message up to the end of its headers. `headers` is a list of names, each with a forged verdict as its
-- value.
function begin(conn, sender, headers)
  done(mt.mailfrom(conn, sender))
  done(mt.header(conn, "From", "someone@example.net"))
  for _, name in ipairs(headers or {}) do
    done(mt.header(conn, name, "deliver; reason=listed; host=forged"))
  end
end

-- The end of a message. Returns the X-Bloomgate field that was put in, which must be one only and at the
-- top, without its host. Where the mail server leaves the space after a field's colon to the milter, as it
-- does where bodies are asked for, the value begins with that space.
function finish(conn)
  local space = mt.test_option(conn, SMFIP_HDR_LEADSPC) and " " or ""
  done(mt.eom(conn))
  expect("the answer at the end of the message", mt.getreply(conn), SMFIR_CONTINUE)
  local value = mt.getheader(conn, "X-Bloomgate", 0)
  if value == nil then error("no X-Bloomgate field was put in", 2) end
  expect("a second X-Bloomgate field", mt.getheader(conn, "X-Bloomgate", 1), nil)
  expect("the field is at the top", mt.eom_check(conn, MT_HDRINSERT, "X-Bloomgate", value, 0), true)
  expect("the space before the value", string.match(value, "^ *"), space)
  return (string.gsub(string.gsub(value, "^ ", ""), "; host=.*", ""))
end

function send(conn, sender, headers)
  begin(conn, sender, headers)
  return finish(conn)
end

-- A message with these header fields, each a pair of a name and a value, and what became of it: `verdict; reason`.
function send_fields(conn, sender, fields)
  done(mt.mailfrom(conn, sender))
  for _, field in ipairs(fields) do done(mt.header(conn, field[1], field[2])) end
  return finish(conn)
end

-- Sends one message of each sender over one connection; `table` has pairs of a sender and its verdict.
function expect_verdicts(table)
  local conn = connect()
  for _, row in ipairs(table) do
    expect("the verdict on " .. row[1], send(conn, row[1]), row[2])
  end
  mt.disconnect(conn)
end

function read_file(name)
  local file = io.open(folder .. "/" .. name, "r")
  if file == nil then return "" end
  local text = file:read("*a")
  file:close()
  return text
end

function write_file(name, text)
  local file = assert(io.open(folder .. "/" .. name, "w"))
  file:write(text)
  file:close()
end

function run(command)
  if not os.execute(command .. " > " .. folder .. "/command.log 2>&1") then
    error("failed: " .. command .. "\n" .. read_file("command.log"), 2)
  end
end

-- Waits until the file has text that matches the pattern behind the position `from`.
function wait_for(name, pattern, from)
  for _ = 1, 1000 do
    if string.find(read_file(name), pattern, from or 1) then return end
    mt.sleep(0.01)
  end
  error("waited ten seconds in vain for '" .. pattern .. "' in " .. name .. ":\n" .. read_file(name), 2)
end

-- Replaces the whitelist by one of these entries, as an operator does.
function build(entries)
  write_file("list.txt", table.concat(entries, "\n") .. "\n")
  run(bloomgate .. " build --allow-shrink --output " .. folder .. "/whitelist.bloom " .. folder .. "/list.txt")
end

-- Tells the daemon to reload and waits for systemd to be told that it has; `status` is a pattern for what
-- it says then.
function reload(status)
  local before = #read_file("notify.log")
  run("kill -USR1 " .. pid)
  wait_for("notify.log", "RELOADING=1\nMONOTONIC_USEC=%d+\n.*READY=1\nSTATUS=" .. status, before + 1)
end

-- The packets that went over the wire since the last call, a line each.
local seen = 0
function wire()
  local text = string.sub(read_file("wire.log"), seen + 1)
  seen = seen + #text
  return text
end

-- Miltertest itself does not say what went wrong.
ok, fault = xpcall(dofile, debug.traceback, dialogue)
if not ok then
  io.stderr:write(fault, "\n")
  os.exit(1)
end
