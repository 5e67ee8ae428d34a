-- ends the daemon
--
-- Told to stop, the daemon lets the message that is under way come to its end first.
conn = connect_in_step()
begin(conn, "<joe@example.org>", {"X-Bloomgate"})
run("kill -TERM " .. pid)
wait_for("notify.log", "STOPPING=1")
expect("the verdict", finish(conn), "deliver; reason=listed")
mt.disconnect(conn)
wait_for("daemon.log", "stopped\n")
expect("messages cut off", string.find(read_file("daemon.log"), "cut off"), nil)
