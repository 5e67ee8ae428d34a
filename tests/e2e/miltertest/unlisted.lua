-- A sender who is not on the whitelist is marked `check`, be it by the local part or by the domain.
expect_verdicts({
  {"<ann@example.org>", "check; reason=not-listed"},
  {"<joe@example.net>", "check; reason=not-listed"},
  {"<joe@sub.example.org>", "check; reason=not-listed"},
})
