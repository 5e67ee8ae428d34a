-- config: revoked = FOLDER/revoked.txt
-- config: extra = FOLDER/extra.txt
-- file: revoked.txt eve@example.org
-- file: extra.txt ann@example.org
--
-- The exact lists are read again when they change, without a signal. Bad lines are left out, of which the log tells.
-- While the file of revoked entries is gone, nobody knows who must not be delivered, so nobody is.
conn = connect()
JOE, ANN = "<joe@example.org>", "<ann@example.org>"
expect("listed", send(conn, JOE), "deliver; reason=listed")
expect("extra", send(conn, ANN), "deliver; reason=listed-extra")

from = #read_file("daemon.log") + 1
write_file("new.txt", "JOE@example.org\nno address\n")
run("mv " .. folder .. "/new.txt " .. folder .. "/revoked.txt")
wait_for("daemon.log", "info: loaded 1 entries of [^\n]*revoked.txt", from)
wait_for("daemon.log", "warning: [^\n]*/revoked.txt:2: ", from)
expect("revoked", send(conn, JOE), "check; reason=revoked")

from = #read_file("daemon.log") + 1
run("rm " .. folder .. "/revoked.txt")
wait_for("daemon.log", "error: [^\n]*revoked.txt[^\n]*so nobody is delivered", from)
expect("nobody is delivered", send(conn, JOE), "check; reason=no-revoked-list")

from = #read_file("daemon.log") + 1
write_file("revoked.txt", "ann@example.org\n")
wait_for("daemon.log", "info: loaded 1 entries of [^\n]*revoked.txt", from)
expect("no more revoked", send(conn, JOE), "deliver; reason=listed")
expect("revoked goes before extra", send(conn, ANN), "check; reason=revoked")
mt.disconnect(conn)
