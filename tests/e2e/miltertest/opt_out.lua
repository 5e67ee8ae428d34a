-- config: opt-out = FOLDER/opt-out.txt
-- config: burst-limit = 0
-- config: suspend = no
-- file: opt-out.txt ann@example.net @quiet.example
--
-- A message with a recipient who has opted out is checked for all its recipients. One that opts out while a connection
-- is open, whose mail server was not asked for recipients, has its messages checked, too.
function verdict(conn, recipients)
  done(mt.mailfrom(conn, "<joe@example.org>"))
  for _, recipient in ipairs(recipients) do done(mt.rcptto(conn, recipient)) end
  done(mt.header(conn, "From", "someone@example.net"))
  return finish(conn)
end

function rewrite(name, entries, loaded)
  local from = #read_file("daemon.log") + 1
  write_file(name, entries)
  wait_for("daemon.log", loaded, from)
end

conn = connect()
greet(conn)
expect("nobody", verdict(conn, {"<bob@example.net>"}), "deliver; reason=listed")
expect("one", verdict(conn, {"<Ann@example.net>"}), "check; reason=opted-out")
expect("one of two", verdict(conn, {"<bob@example.net>", "<ann+shop@example.net>"}), "check; reason=opted-out")
expect("a domain", verdict(conn, {"<x@quiet.example>"}), "check; reason=opted-out")
expect("somebody", verdict(conn, {"<postmaster>"}), "check; reason=recipients-unknown")
rewrite("opt-out.txt", "", "loaded 0 entries of [^\n]*opt%-out")
expect("opted in", verdict(conn, {"<ann@example.net>"}), "deliver; reason=listed")
mt.disconnect(conn)

conn = connect()
greet(conn)
expect("recipients are not asked for", verdict(conn, {}), "deliver; reason=listed")
rewrite("opt-out.txt", "ann@example.net\n", "loaded 1 entry of [^\n]*opt%-out")
expect("a connection from before", verdict(conn, {}), "check; reason=recipients-unknown")
mt.disconnect(conn)
conn = connect()
greet(conn)
expect("the next connection", verdict(conn, {"<bob@example.net>"}), "deliver; reason=listed")
expect("the next connection", verdict(conn, {"<ann@example.net>"}), "check; reason=opted-out")
mt.disconnect(conn)
