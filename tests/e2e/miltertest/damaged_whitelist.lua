-- A whitelist that is cut off under the running daemon does not kill it: from the first look-up that meets
-- the damage on everything is `check`, the log and the status say so once, and a good file puts an end to
-- it.
expect_verdicts({{"<joe@example.org>", "deliver; reason=listed"}})
run("truncate --size 4096 " .. folder .. "/whitelist.bloom")
expect_verdicts({
  {"<joe@example.org>", "check; reason=whitelist-damaged"},
  {"<joe@example.org>", "check; reason=whitelist-damaged"},
  {"<>", "check; reason=whitelist-damaged"},
})
wait_for("notify.log", "STATUS=damaged: ")
wait_for("daemon.log", "error: damaged: ")

-- The cut-off file is refused; nothing gets better or worse by it.
reload("reload refused: .*; still damaged: ")
expect_verdicts({{"<joe@example.org>", "check; reason=whitelist-damaged"}})

build({"joe@example.org"})
reload("serving ")
expect_verdicts({{"<joe@example.org>", "deliver; reason=listed"}})
_, reports = string.gsub(read_file("daemon.log"), "error: damaged: ", "")
expect("reports of the damage", reports, 1)
