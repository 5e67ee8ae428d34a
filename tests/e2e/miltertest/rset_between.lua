-- After RSET nothing is left of the message that was given up: neither its sender nor its forged fields.
conn = connect()
begin(conn, "<joe@example.org>", {"X-Bloomgate", "X-Bloomgate"})
done(mt.abort(conn))
expect("the verdict", send(conn, "<ann@example.org>"), "check; reason=not-listed")
expect("nothing is deleted", mt.eom_check(conn, MT_HDRDELETE), false)

begin(conn, "<ann@example.org>")
done(mt.abort(conn))
expect("the verdict", send(conn, "<joe@example.org>", {"X-Bloomgate"}), "deliver; reason=listed")
expect("one is deleted", mt.eom_check(conn, MT_HDRDELETE, "X-Bloomgate", 1), true)
expect("one only", mt.eom_check(conn, MT_HDRDELETE, "X-Bloomgate", 2), false)
mt.disconnect(conn)
