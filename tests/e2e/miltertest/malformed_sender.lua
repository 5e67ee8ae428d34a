-- What is not an address is marked `check`, and the log names the fault. No byte of it gets into the header.
expect_verdicts({
  {"<joe>", "check; reason=malformed-sender"},
  {"<joe@>", "check; reason=malformed-sender"},
  {"<@example.org>", "check; reason=malformed-sender"},
  {"<joe,doe@example.org>", "check; reason=malformed-sender"},
  {"<joe@example.org", "check; reason=malformed-sender"},
  {"<joe\255@example.org>", "check; reason=malformed-sender"},
  {"<joe@example.org>\r\nX-Bloomgate: deliver", "check; reason=malformed-sender"},
  {"<" .. string.rep("x", 600) .. "@example.org>", "check; reason=malformed-sender"},
})
wait_for("daemon.log",
         "sender=<joe> decision=check reason=malformed%-sender .*fault=missing%-at%-sign")
