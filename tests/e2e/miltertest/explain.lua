-- config: authentication = required
-- config: dmarc-fail-veto = yes
-- config: spf-proves = address
-- config: trusted-authserv-id = mx.example.net
-- config: own-domains = example.net
-- config: revoked = FOLDER/revoked.txt
-- file: revoked.txt eve@example.org
--
-- What --explain says of a message is what the daemon decides on it.
function decided(conn, sender, fields)
  return (string.gsub(send_fields(conn, sender, fields), ";", "", 1))
end

function explained(sender, fields)
  local lines = {}
  for _, field in ipairs(fields) do lines[#lines + 1] = field[1] .. ": " .. field[2] end
  write_file("message.eml", table.concat(lines, "\n") .. "\n\nX-Body: x\n")
  run(program .. " --config " .. folder .. "/bloomgate-milter.conf --explain --from '" .. sender .. "' < " .. folder ..
      "/message.eml")
  return string.match(read_file("command.log"), "\ndecision: ([^\n]*)\n$")
end

conn = connect()
greet(conn)
senders = {"<joe@example.org>", "<eve@example.org>", "<ann@example.org>", "<joe@example.net>", "<a@corp.example>",
           "<prvs=1234abcdef=joe@example.org>", "<SRS0=HHH=TT=example.org=joe@fwd.example>", "<>", "<joe>",
           "<b@a.tree.example>"}
froms = {{}, {"joe@example.org"}, {"Joe\n <JOE@example.org>", "joe@example.org"}, {"eve@example.org"},
         {"x@example.net"}, {"<"}}
results = {"mx.example.net; spf=pass smtp.mailfrom=joe@example.org", "mx.example.net; dkim=pass header.d=example.org",
           "mx.example.net; dmarc=fail header.from=example.org", "other.example; dkim=pass header.d=example.org"}
count, delivered = 0, 0
for i, sender in ipairs(senders) do
  for j, values in ipairs(froms) do
    local fields = {{"DKIM-Signature", "v=1; d=example.org; s=1; h=from; t=" .. os.time() .. "; b=Zm9v"}}
    for _, value in ipairs(values) do fields[#fields + 1] = {"From", value} end
    fields[#fields + 1] = {"Authentication-Results", results[(i * 3 + j) % #results + 1]}
    local decision = decided(conn, sender, fields)
    expect(sender .. " from " .. table.concat(values, "|"), explained(sender, fields), decision)
    count = count + 1
    if string.find(decision, "^deliver") then delivered = delivered + 1 end
  end
end
expect("messages", count, 60)
expect("some are delivered", delivered >= 3, true)
mt.disconnect(conn)
