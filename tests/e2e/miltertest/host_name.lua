-- config: host-name = gate.example.org
--
-- A configured host name stands in the field, whatever the mail server says.
conn = connect()
begin(conn, "<joe@example.org>")
mt.macro(conn, SMFIC_EOM, "j", "mx.example.org")
finish(conn)
expect("the field", mt.getheader(conn, "X-Bloomgate", 0),
  "deliver; reason=listed; host=gate.example.org; identity=envelope; authentication=none; whitelist=whitelist")
mt.disconnect(conn)
