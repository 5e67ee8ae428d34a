-- Messages on one connection are decided one by one, each by its own sender and with its own forged fields;
-- and so are messages of two connections that are interleaved.
conn = connect()
for _ = 1, 20 do
  expect("the first", send(conn, "<joe@example.org>", {"X-Bloomgate"}), "deliver; reason=listed")
  expect("the second", send(conn, "<ann@example.org>"), "check; reason=not-listed")
  expect("nothing is deleted", mt.eom_check(conn, MT_HDRDELETE), false)
end

other = connect()
begin(conn, "<joe@example.org>")
begin(other, "<ann@example.org>")
expect("the first connection", finish(conn), "deliver; reason=listed")
expect("the second connection", finish(other), "check; reason=not-listed")

-- A client that vanishes in the middle of a message disturbs nobody.
begin(other, "<joe@example.org>", {"X-Bloomgate"})
mt.disconnect(other, false)
expect("the first connection", send(conn, "<ann@example.org>"), "check; reason=not-listed")
mt.disconnect(conn)
