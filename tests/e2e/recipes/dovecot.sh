#!/usr/bin/env bash
# Takes the steps of the page for Dovecot, as they are written, and moves mail: see checking.sh.
# shellcheck source=tests/e2e/systemd/checking.sh
. /checks/checking.sh

readonly USER_OF_OURS=ann@ours.example SENDER=joe@example.org DATABASE=/var/lib/bloomgate/learned/learned.db

# As the page takes for granted: virtual users, whose mailboxes are vmail's. Every password is right.
prepare() {
  systemd-sysusers
  systemd-tmpfiles --create
  useradd --system --create-home --home-dir /var/vmail vmail
  cp "/checks/$(dovecot --version | cut -d. -f1,2).conf" /etc/dovecot/conf.d/99-virtual.conf
  sed -i '/^!include auth-system/d' /etc/dovecot/conf.d/10-auth.conf
  systemctl restart dovecot
  await listens 143
  printf '%s\n' 'learn = outbound' 'own-domains = ours.example' 'trusted-authserv-id = mx.test' 'spf-proves = address' \
    >>/etc/bloomgate/bloomgate-milter.conf
  echo "$SENDER" | bloomgate build --output /var/lib/bloomgate/whitelist.bloom -
  systemctl restart bloomgate-milter
  await test -e "$DATABASE"
}

# move SOURCE TARGET: all messages of a mailbox of the user's.
move() {
  /usr/bin/python3 - "$USER_OF_OURS" "$@" <<'END'
import imaplib, sys
user, source, target = sys.argv[1:]
with imaplib.IMAP4("127.0.0.1") as client:
    client.login(user, "any")
    if source == "nowhere":
        message = (b"Return-Path: <joe@example.org>\r\nAuthentication-Results: mx.test; spf=pass smtp.mailfrom=example.org\r\n"
                   b"From: joe@example.org\r\nSubject: hello\r\n\r\ntext\r\n")
        print(client.append(target, None, None, message))
    else:
        print(client.select(source))
        print(client._simple_command("MOVE", "1:*", target))
END
}
is_suspended() { grep -F "$SENDER > $USER_OF_OURS: until" <(bloomgate-milter suspended list); }

check_the_steps_run_as_they_are_written() {
  cd /root/bloomgate
  bash -eux /checks/steps-dovecot
  await listens 143
}

check_a_sender_whose_message_is_moved_into_junk_is_suspended() {
  move nowhere INBOX
  fails is_suspended
  move INBOX Junk
  await is_suspended
}

check_one_whose_message_is_moved_out_of_it_is_not() {
  move Junk INBOX
  await fails is_suspended
}

check_the_log_of_dovecot_has_no_error() {
  fails grep -E '(bloomgate|sieve).*rror' <(journalctl -q -u dovecot)
}

run_checks
