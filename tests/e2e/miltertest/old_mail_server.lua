-- A mail server that knows version 2 of the protocol only, and so can leave out less, waits for an answer
-- to each step, and cannot be told which macros to send: it gets its answers, and its messages are decided
-- all the same.
conn = connect_in_step()
expect("MAIL is answered", mt.test_option(conn, SMFIP_NR_MAIL), false)
expect("unknown commands are left out", mt.test_option(conn, SMFIP_NOUNKNOWN), false)
expect("the body is left out", mt.test_option(conn, SMFIP_NOBODY), true)
wire()
greet(conn)
expect_match("connection and greeting are answered", wire(), "^> C [^\n]*\n< c\n> H client.example\n< c\n$")
done(mt.mailfrom(conn, "<joe@example.org>"))
done(mt.header(conn, "X-Bloomgate", "deliver"))
expect_match("each step is answered", wire(), "^> M <joe@example.org>\n< c\n.*> L X%-Bloomgate deliver\n< c\n$")
expect("the verdict", finish(conn), "deliver; reason=listed")
expect("the forged field is removed", mt.eom_check(conn, MT_HDRDELETE, "X-Bloomgate", 1), true)
mt.disconnect(conn)
