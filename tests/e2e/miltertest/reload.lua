-- SIGUSR1 puts a new whitelist into use while a connection is open and a message is under way: it is
-- decided by the whitelist that is in use at its end.
conn = connect()
expect("before", send(conn, "<joe@example.org>"), "deliver; reason=listed")
expect("before", send(conn, "<ann@example.org>"), "check; reason=not-listed")

begin(conn, "<ann@example.org>")
build({"ann@example.org"})
reload("serving [^\n]*: 1 entry, ")
expect("the message under way", finish(conn), "deliver; reason=listed")
expect("after", send(conn, "<joe@example.org>"), "check; reason=not-listed")
mt.disconnect(conn)
-- A list is said to be loaded once the configuration that names it is in use.
wait_for("daemon.log", "loading [^\n]* again\n[^\n]*configuration loaded, [^\n]*\n[^\n]*loaded [^\n]*: 1 entry, ")
