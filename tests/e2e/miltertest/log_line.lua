-- Each message has one log line, and no sender can forge another one, or a field of its own line.
expect_verdicts({
  {"<joe@example.org>", "deliver; reason=listed"},
  {"<x@y.example>\nqueue_id=Q2 sender=<joe@example.org> decision=deliver reason=listed time_us=1.0",
   "check; reason=malformed-sender"},
  {'<"x decision=deliver reason=listed"@y.example>', "check; reason=not-listed"},
  {"<\27[2J@y.example>", "check; reason=malformed-sender"},
})
wait_for("daemon.log", string.rep("info: queue_id=[^\n]*\n.*", 4))
log = read_file("daemon.log")
lines = 0
for line in string.gmatch(log, "[^\n]*queue_id=[^\n]*") do
  lines = lines + 1
  expect_match("the line", line,
               "^[%g]+ info: queue_id=%g+ sender=%g+ decision=%g+ reason=[%l-]+ time_us=%d+%.%d " ..
               "identity=[%l-]+ authentication=%l+ whitelist=[%w.-]+ header_from=%g+[%g ]*$")
end
expect("log lines", lines, 4)
expect_match("the listed sender's line", log,
             "queue_id=%- sender=<joe@example.org> decision=deliver reason=listed time_us=%d+%.%d " ..
             "identity=envelope authentication=none whitelist=whitelist header_from=someone@example.net\n")
expect_match("the escapes", log,
             "sender=<x@y%.example>\\x0aqueue_id=Q2\\x20sender=<joe@example%.org>\\x20decision=deliver")
expect("a control byte in the log", string.find(log, "\27"), nil)
