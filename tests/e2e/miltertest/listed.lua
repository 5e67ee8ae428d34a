-- A sender who is on the whitelist is marked `deliver`, and the field names the reason and the host: the
-- machine's name, as the mail server has told none.
conn = connect()
expect("the verdict", send(conn, "<joe@example.org>"), "deliver; reason=listed")
expect_match("the field", mt.getheader(conn, "X-Bloomgate", 0), "^deliver; reason=listed; host=[%w.-]+; identity=envelope; ")
expect("nothing is deleted", mt.eom_check(conn, MT_HDRDELETE), false)
expect("nothing is appended", mt.eom_check(conn, MT_HDRADD), false)
mt.disconnect(conn)
