-- A new whitelist that is no good is refused: the old one stays in use, and the log and the status say so.
-- Any bad file will do: damaged in its body, not a filter at all, or gone.
whitelist = folder .. "/whitelist.bloom"

function refused()
  reload("reload refused: [^\n]*; still serving ")
  expect_verdicts({{"<joe@example.org>", "deliver; reason=listed"}, {"<ann@example.org>", "check; reason=not-listed"}})
end

-- The bad files are put in place by renaming: the one that is in use must not be touched.
copy = folder .. "/copy"
run("cp " .. whitelist .. " " .. copy)
run("printf x | dd of=" .. copy .. " bs=1 seek=5000 conv=notrunc")
run("mv " .. copy .. " " .. whitelist)
refused()

write_file("text", "joe@example.org\n")
run("mv " .. folder .. "/text " .. whitelist)
refused()

run("rm " .. whitelist)
refused()

wait_for("daemon.log", string.rep("error: reload refused: .*", 3))
_, refusals = string.gsub(read_file("daemon.log"), "error: reload refused: ", "")
expect("refusals in the log", refusals, 3)

build({"ann@example.org"})
reload("serving ")
expect_verdicts({{"<joe@example.org>", "check; reason=not-listed"}, {"<ann@example.org>", "deliver; reason=listed"}})
