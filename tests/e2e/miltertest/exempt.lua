-- config: exempt-networks = 192.0.2.0/24, 2001:db8::/32
-- config: exempt-daemons = MSA
--
-- Mail that is not incoming gets no mark, and loses those that it came with: from clients of our own, through a
-- listener for them, and of users who logged in. The client's address is that of its connection, and no macro's.
function edits(address, stage, name, value)
  local conn = connect()
  if stage == SMFIC_CONNECT then mt.macro(conn, stage, name, value) end
  greet(conn, address)
  if stage == SMFIC_MAIL then mt.macro(conn, stage, name, value) end
  begin(conn, "<joe@example.org>", {"X-Bloomgate"})
  done(mt.eom(conn))
  expect("the answer", mt.getreply(conn), SMFIR_CONTINUE)
  expect("the forged field is removed", mt.eom_check(conn, MT_HDRDELETE, "X-Bloomgate", 1), true)
  local marked = mt.getheader(conn, "X-Bloomgate", 0) ~= nil
  mt.disconnect(conn)
  return marked
end

expect("a stranger is marked", edits("198.51.100.1"), true)
expect("one of ours is marked", edits("192.0.2.77"), false)
expect("who says that he is one of ours is marked",
       edits("198.51.100.1", SMFIC_MAIL, "{client_addr}", "192.0.2.77"), true)
expect("who logged in is marked", edits("198.51.100.1", SMFIC_MAIL, "{auth_authen}", "joe"), false)
expect("who has a certificate is marked", edits("198.51.100.1", SMFIC_MAIL, "{cert_subject}", "joe"), true)
expect("what came through the listener is marked",
       edits("198.51.100.1", SMFIC_CONNECT, "{daemon_name}", "MSA"), false)
expect("another listener's is marked", edits("198.51.100.1", SMFIC_CONNECT, "{daemon_name}", "msa"), true)
for _, reason in ipairs({"exempt%-network", "exempt%-authenticated", "exempt%-daemon"}) do
  wait_for("daemon.log", "decision=check reason=" .. reason .. " ")
end
