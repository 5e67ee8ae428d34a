-- config: authentication = required
-- config: dmarc-fail-veto = yes
-- config: trusted-authserv-id = mx.example.net
--
-- A listed sender is delivered only where a trusted Authentication-Results field says that it is his, about a
-- signature or an envelope sender that the message has. Fields of others change nothing, wherever they stand and in
-- whatever case they are written; a trusted one counts in any case.
conn = connect()
greet(conn)
FROM = {"From", "Joe <joe@example.org>"}
SIGNED = {"DKIM-Signature", "v=1; a=rsa-sha256; d=example.org; s=1; b=Zm9v"}
PASS = {"Authentication-Results", "mx.example.net; dkim=pass header.d=example.org"}
YES = "deliver; reason=listed"
NO = "check; reason=not-authenticated"
for name, row in pairs({
  ["nothing is known"] = {NO, {FROM, SIGNED}},
  ["a pass"] = {YES, {PASS, SIGNED, FROM}},
  ["a pass in capitals, folded"] =
    {YES, {{"AUTHENTICATION-RESULTS", "MX.Example.NET;\n\tDKIM=Pass (good)\n\theader.D=Example.ORG"}, SIGNED, FROM}},
  ["a pass behind all others"] = {YES, {FROM, SIGNED, {"Subject", "x"}, PASS}},
  ["a pass without a signature"] = {NO, {PASS, FROM}},
  ["a pass of another domain"] =
    {NO, {{"Authentication-Results", "mx.example.net; dkim=pass header.d=evil.example"}, SIGNED, FROM}},
  ["a pass of another server"] =
    {NO, {{"Authentication-Results", "mx.example.org; dkim=pass header.d=example.org"}, SIGNED, FROM}},
  ["a server whose name begins like ours"] =
    {NO, {{"Authentication-Results", "mx.example.net.evil.example; dkim=pass header.d=example.org"}, SIGNED, FROM}},
  ["our name in a comment"] =
    {NO, {{"Authentication-Results", "evil.example (mx.example.net); dkim=pass header.d=example.org"}, SIGNED, FROM}},
  ["our name in a second part"] =
    {NO, {{"Authentication-Results", "evil.example; mx.example.net; dkim=pass header.d=example.org"}, SIGNED, FROM}},
  ["a field of another name"] =
    {NO, {{"X-Authentication-Results", "mx.example.net; dkim=pass header.d=example.org"}, SIGNED, FROM}},
  ["a forged pass before ours that fails"] =
    {NO, {{"Authentication-Results", "evil.example; dkim=pass header.d=example.org"}, SIGNED, FROM,
          {"Authentication-Results", "mx.example.net; dkim=fail header.d=example.org"}}},
  ["DMARC failed"] =
    {"check; reason=dmarc-fail",
     {{"Authentication-Results",
       "mx.example.net; spf=pass smtp.mailfrom=example.org;\n dmarc=fail header.from=example.org"}, FROM}},
}) do
  expect(name, send_fields(conn, "<joe@example.org>", row[2]), row[1])
end

-- The sender of the From field, whoever the envelope's is.
expect("by the From field", send_fields(conn, "<bounce-7@news.example>", {FROM, SIGNED, PASS}), YES)
expect("two From fields", send_fields(conn, "<bounce-7@news.example>", {FROM, FROM, SIGNED, PASS}),
       "check; reason=several-from-fields")
expect("two mailboxes",
       send_fields(conn, "<bounce-7@news.example>", {{"From", "joe@example.org, eve@evil.example"}, SIGNED, PASS}),
       "check; reason=several-from-mailboxes")
expect("a listed name only",
       send_fields(conn, "<bounce-7@news.example>", {{"From", "\"joe@example.org\" <eve@evil.example>"}, SIGNED, PASS}),
       "check; reason=not-listed")
mt.disconnect(conn)
wait_for("daemon.log",
         "sender=<bounce%-7@news.example> decision=deliver reason=listed time_us=%d+%.%d identity=header%-from " ..
         "authentication=dkim whitelist=whitelist header_from=joe@example.org\n")
