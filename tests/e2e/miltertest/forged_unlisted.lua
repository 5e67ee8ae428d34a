-- The same for a sender who is not listed, where a forged field would do harm: none is left, and ours says
-- `check`. Fields whose names only look alike stay.
conn = connect()
names = {"x-BLOOMGATE", "X-Bloomgate-Not", "X-Bloomgat", "X-Bloomgate"}
expect("the verdict", send(conn, "<spammer@example.net>", names), "check; reason=not-listed")
expect_match("the order", wire(), "< m 2 X%-Bloomgate\n< m 1 X%-Bloomgate\n< i 0 X%-Bloomgate check; [^\n]*\n< c\n")
mt.disconnect(conn)
