-- Fields named X-Bloomgate that came with a listed sender's message are removed, in any case and with space
-- before the colon, from the last to the first: the other order leaves some behind, as each removal
-- renumbers the ones after it. Only then is ours put in.
conn = connect()
expect("the verdict", send(conn, "<joe@example.org>", {"X-Bloomgate", "Subject", "x-bloomgate", "X-BLOOMGATE "}),
       "deliver; reason=listed")
expect_match("the order", wire(),
             "< m 3 X%-Bloomgate\n< m 2 X%-Bloomgate\n< m 1 X%-Bloomgate\n" ..
             "< i 0 X%-Bloomgate deliver; [^\n]*\n< c\n")
expect("only these", mt.eom_check(conn, MT_HDRDELETE, "X-Bloomgate", 4), false)
wait_for("daemon.log", "reason=listed .* forged_headers=3\n")
mt.disconnect(conn)
