-- The null sender, that of bounces, is never on a whitelist.
expect_verdicts({{"<>", "check; reason=null-sender"}})
