-- A mail server that lets no headers be removed is refused when it connects, and the log says what is
-- missing: marking its mail and leaving forged fields in place would be worse than no mark.
conn = connect()
expect_match("the negotiation", mt.negotiate(conn, nil, nil, SMFIF_ADDHDRS), "failed")
wait_for("daemon.log", "error: a mail server was refused: it does not offer what is needed: changing headers\n")

-- Others are served as before.
expect_verdicts({{"<joe@example.org>", "deliver; reason=listed"}})
