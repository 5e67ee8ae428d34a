-- config: deep-check = spamd:unix:FOLDER/nobody.sock
-- config: deep-check-failure = tag
-- config: deep-check-spam = quarantine
-- Where the daemon asks a deeper check itself it asks the mail server for recipients and bodies, too. It
-- skips the body of a listed sender's message after its first part; that of another goes to the checker.
-- Nobody is there, so the message goes on as unknown.
conn = connect()
done(mt.negotiate(conn, nil, nil, nil))
for name, option in pairs({RCPT = SMFIP_NORCPT, EOH = SMFIP_NOEOH, BODY = SMFIP_NOBODY}) do
  expect(name .. " is left out", mt.test_option(conn, option), false)
end
for name, option in pairs({DATA = SMFIP_NODATA, UNKNOWN = SMFIP_NOUNKNOWN}) do
  expect(name .. " is left out", mt.test_option(conn, option), true)
end
for name, option in pairs({RCPT = SMFIP_NR_RCPT, EOH = SMFIP_NR_EOH}) do
  expect(name .. " is answered", not mt.test_option(conn, option), false)
end
expect("the body is answered", not mt.test_option(conn, SMFIP_NR_BODY), true)
expect("bodies can be skipped", mt.test_option(conn, SMFIP_SKIP), true)
expect("quarantine is asked for", mt.test_action(conn, SMFIF_QUARANTINE), true)
expect_match("the macros", wire(), "< O %d+ %x+ %x+ 0:j {daemon_name} 2:i {auth_authen} 5:i j\n")

greet(conn)
begin(conn, "<joe@example.org>", {"X-Spam-Flag"})
done(mt.eoh(conn))
done(mt.bodystring(conn, "Hello.\r\n"))
expect("the answer to the body", mt.getreply(conn), SMFIR_SKIP)
expect("the verdict", finish(conn), "deliver; reason=listed")
expect("a forged result is removed", mt.eom_check(conn, MT_HDRDELETE, "X-Spam-Flag"), true)
expect("a result is put in", mt.getheader(conn, "X-Spam-Status", 0), nil)
wire()

begin(conn, "<ann@example.org>", {"X-Spam-Flag", "x-spam-flag", "X-Spam-Score"})
done(mt.eoh(conn))
done(mt.bodystring(conn, "Hello.\r\n"))
expect("the answer to the body", mt.getreply(conn), SMFIR_CONTINUE)
expect("the verdict", finish(conn), "check; reason=not-listed")
expect_match("what is done with it", wire(),
             "> E\n< m 2 X%-Spam%-Flag\n< m 1 X%-Spam%-Flag\n< m 1 X%-Spam%-Score\n" ..
             "< i 0 X%-Spam%-Status  Unknown, [^\n]*\n< i 0 X%-Bloomgate  check; [^\n]*\n< c\n$")
wait_for("daemon.log",
         "sender=<ann@example.org> decision=check .* deep_check=failed action=tag check_ms=%d+\n")
mt.disconnect(conn)
