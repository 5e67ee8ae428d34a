-- All ways to write a listed address are that address: case, source routes, needless quotes, a trailing
-- dot, and the two forms of an internationalised domain. Needed quotes are kept.
expect_verdicts({
  {"<JOE@EXAMPLE.ORG>", "deliver; reason=listed"},
  {"<@relay.example,@two.example:joe@example.org>", "deliver; reason=listed"},
  {'<"joe"@example.org>', "deliver; reason=listed"},
  {'<"odd name"@example.org>', "deliver; reason=listed"},
  {"<joe@example.org.>", "deliver; reason=listed"},
  {"<jørn@example.org>", "deliver; reason=listed"},
  {"<joe@müller.example>", "deliver; reason=listed"},
  {"<joe@MÜLLER.example>", "deliver; reason=listed"},
  {"<joe@xn--mller-kva.example>", "deliver; reason=listed"},
  {'<"joe@example.org"@evil.example>', "check; reason=not-listed"},
  {"<@example.org:joe@evil.example>", "check; reason=not-listed"},
})
