-- config: burst-limit = 0
-- config: suspend = no
--
-- The mail server is asked for no more than is needed: the client's address and greeting, the MAIL command,
-- the headers and the end of the message, no body, no recipients (unless listed senders are counted), and no answers before
-- the end. Of the macros only the listener's name, the
-- login, the queue ID and the host's name are asked for.
conn = connect()
done(mt.negotiate(conn, nil, nil, nil))
for name, option in pairs({RCPT = SMFIP_NORCPT, DATA = SMFIP_NODATA,
                           EOH = SMFIP_NOEOH, BODY = SMFIP_NOBODY, UNKNOWN = SMFIP_NOUNKNOWN}) do
  expect(name .. " is left out", mt.test_option(conn, option), true)
end
expect("connections are left out", mt.test_option(conn, SMFIP_NOCONNECT), false)
expect("greetings are left out", mt.test_option(conn, SMFIP_NOHELO), false)
expect("MAIL is left out", mt.test_option(conn, SMFIP_NOMAIL), false)
expect("headers are left out", mt.test_option(conn, SMFIP_NOHDRS), false)
expect("connections are answered", not mt.test_option(conn, SMFIP_NR_CONN), false)
expect("greetings are answered", not mt.test_option(conn, SMFIP_NR_HELO), false)
expect("MAIL is answered", not mt.test_option(conn, SMFIP_NR_MAIL), false)
expect("headers are answered", not mt.test_option(conn, SMFIP_NR_HDR), false)
expect("leading space is asked for", mt.test_option(conn, SMFIP_HDR_LEADSPC), false)
expect("rejected recipients are asked for", mt.test_option(conn, SMFIP_RCPT_REJ), false)
for name, action in pairs({["adding headers"] = SMFIF_ADDHDRS, ["changing headers"] = SMFIF_CHGHDRS,
                           ["choosing macros"] = SMFIF_SETSYMLIST}) do
  expect(name .. " is asked for", mt.test_action(conn, action), true)
end
for _, action in ipairs({SMFIF_CHGBODY, SMFIF_ADDRCPT, SMFIF_DELRCPT, SMFIF_QUARANTINE, SMFIF_CHGFROM,
                         SMFIF_ADDRCPT_PAR}) do
  expect("action " .. action .. " is asked for", mt.test_action(conn, action), false)
end
expect_match("the macros", wire(), "< O %d+ %x+ %x+ 0:j {daemon_name} 2:i {auth_authen} 5:i j\n")

greet(conn)
send(conn, "<joe@example.org>", {"X-Bloomgate"})
expect_match("the whole message", wire(),
             "^> C client.example [^\n]*192.0.2.1\n> H [^\n]*\n> M <joe@example.org>\n> L From [^\n]*\n> L X%-Bloomgate [^\n]*\n> E\n" ..
             "< m 1 X%-Bloomgate\n< i 0 [^\n]*\n< c\n$")
mt.disconnect(conn)
