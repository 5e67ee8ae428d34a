-- config: deep-check = spamd:unix:FOLDER/nobody.sock
-- config: deep-check-failure = tempfail
-- A mail server that knows version 2 of the protocol only cannot skip a body: each part of it is answered,
-- and left out. Where no checker answers, a message that is not listed is refused for now.
conn = connect_in_step()
expect("the body is left out", mt.test_option(conn, SMFIP_NOBODY), false)
expect("bodies can be skipped", mt.test_option(conn, SMFIP_SKIP), false)
greet(conn)
begin(conn, "<joe@example.org>")
done(mt.eoh(conn))
for _ = 1, 3 do
  done(mt.bodystring(conn, "Hello.\r\n"))
  expect("the answer to the body", mt.getreply(conn), SMFIR_CONTINUE)
end
expect("the verdict", finish(conn), "deliver; reason=listed")

begin(conn, "<ann@example.org>")
done(mt.eoh(conn))
done(mt.bodystring(conn, "Hello.\r\n"))
wire()
done(mt.eom(conn))
expect("the answer at the end of the message", mt.getreply(conn), SMFIR_REPLYCODE)
expect_match("the reply", wire(), "> E\n< y 451 4.7.1 [^\n]*try again later\n$")
mt.disconnect(conn)
