-- `@corp.example` lists every address of that very domain; `@.tree.example` lists every address of that
-- domain and of all below it. Each has a reason of its own.
expect_verdicts({
  {"<anyone@corp.example>", "deliver; reason=listed-domain"},
  {"<anyone@sub.corp.example>", "check; reason=not-listed"},
  {"<anyone@tree.example>", "deliver; reason=listed-domain-tree"},
  {"<anyone@a.b.tree.example>", "deliver; reason=listed-domain-tree"},
  {"<anyone@nottree.example>", "check; reason=not-listed"},
})
