-- config: log-level = warning
--
-- At level warning messages are decided and not logged: the first line is that of what then goes wrong.
expect_verdicts({{"<joe@example.org>", "deliver; reason=listed"}})
write_file("text", "joe@example.org\n")
run("mv " .. folder .. "/text " .. folder .. "/whitelist.bloom")
reload("reload refused: ")
wait_for("daemon.log", "error: reload refused: ")
expect_match("the log", read_file("daemon.log"), "^%g+ error: reload refused: ")
