-- config: mode = observe
--
-- Observing, the daemon decides and logs, and touches nothing: it asks for no right to change anything,
-- puts nothing in, and leaves forged fields where they are.
conn = connect()
begin(conn, "<joe@example.org>", {"X-Bloomgate"})
for _, action in ipairs({SMFIF_ADDHDRS, SMFIF_CHGHDRS, SMFIF_CHGBODY, SMFIF_ADDRCPT, SMFIF_DELRCPT,
                         SMFIF_QUARANTINE, SMFIF_CHGFROM}) do
  expect("action " .. action .. " is asked for", mt.test_action(conn, action), false)
end
done(mt.eom(conn))
expect("the answer", mt.getreply(conn), SMFIR_CONTINUE)
expect_match("the wire", wire(), "> E\n< c\n$")
wait_for("daemon.log",
         "sender=<joe@example.org> decision=deliver reason=listed .* forged_headers=1\n")
mt.disconnect(conn)
