-- no whitelist
-- config: allow-missing-whitelist = yes
--
-- Told that the whitelist may be missing, the daemon starts without it, and everything is `check`, until a
-- whitelist is there and the daemon is told to load it.
expect_match("the status", read_file("notify.log"), "READY=1\nSTATUS=no whitelist is loaded")
wait_for("daemon.log", "warning: starting without a whitelist")
expect_verdicts({{"<joe@example.org>", "check; reason=no-whitelist"}, {"<>", "check; reason=no-whitelist"}})

reload("reload refused: ")
expect_verdicts({{"<joe@example.org>", "check; reason=no-whitelist"}})

build({"joe@example.org"})
reload("serving ")
expect_verdicts({{"<joe@example.org>", "deliver; reason=listed"}})
