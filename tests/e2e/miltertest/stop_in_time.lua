-- ends the daemon
--
-- A message that does not come to its end does not keep the daemon from stopping: it is cut off after three
-- seconds, and the log says so.
conn = connect_in_step()
begin(conn, "<joe@example.org>")
run("kill -TERM " .. pid)
wait_for("daemon.log", "warning: 1 message was being handled and cut off\n")
wait_for("daemon.log", "stopped\n")
