-- config: log-level = warning
--
-- At level warning messages are decided and not logged.
expect_verdicts({{"<joe@example.org>", "deliver; reason=listed"}})
expect("the log", read_file("daemon.log"), "")
