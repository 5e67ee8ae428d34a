-- The host's name is the mail server's macro j, and the queue ID its macro i. Sendmail knows the queue ID
-- at MAIL, Postfix only at the end of the message. A name that cannot stand in a header is not taken.
conn = connect()
greet(conn)
mt.macro(conn, SMFIC_MAIL, "i", "SendmailId1")
begin(conn, "<joe@example.org>")
mt.macro(conn, SMFIC_EOM, "j", "mx.example.org")
finish(conn)
expect("the field", mt.getheader(conn, "X-Bloomgate", 0),
  "deliver; reason=listed; host=mx.example.org; identity=envelope; authentication=none; whitelist=whitelist")
wait_for("daemon.log", "queue_id=SendmailId1 sender=<joe@example.org> ")

begin(conn, "<joe@example.org>")
mt.macro(conn, SMFIC_EOM, "i", "4PostfixId", "j", "evil\r\nX-Spam: no")
finish(conn)
expect_match("the field", mt.getheader(conn, "X-Bloomgate", 0), "^deliver; reason=listed; host=[%w.-]+; identity=envelope; ")
wait_for("daemon.log", "queue_id=4PostfixId sender=<joe@example.org> ")
mt.disconnect(conn)
