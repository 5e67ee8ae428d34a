#!/usr/bin/env bash
# In place of an operator who has a log, a folder of sent mail and no list: types the lines of /checks/commands, which are
# those of config/guide/renew.md, then users write and are answered. See checking.sh.
# shellcheck source=tests/e2e/systemd/checking.sh
. /checks/checking.sh

whitelist=/var/lib/bloomgate/whitelist.bloom
learned=/var/lib/bloomgate/learned/learned.db

# write USER RECIPIENT: the user, who has logged in, writes to somebody, whose server takes it.
write() {
  /usr/bin/python3 -c '
import smtplib, sys
sender, recipient = f"{sys.argv[1]}@example.net", sys.argv[2]
with smtplib.SMTP("127.0.0.1", 25, timeout=100, source_address=("127.0.0.2", 0)) as server:
    server.ehlo()
    print(server.docmd("XCLIENT", f"LOGIN={sys.argv[1]} ADDR=192.0.2.7"))
    server.ehlo()
    server.sendmail(sender, [recipient], f"From: {sender}\r\nTo: {recipient}\r\nSubject: hello\r\n\r\nHello.\r\n")' "$@"
  await grep -q "to=<$2>.*status=sent" /var/log/mail.log
}

# verdict SENDER NAME RECIPIENT...: the sender's message, from outside, to these users; prints its mark. Its Message-ID
# has the name, since the other fields are signed.
verdict() {
  local sender=$1 name=$2
  shift 2
  /usr/bin/python3 -c '
import smtplib, sys
sender, name, *users = sys.argv[1:]
content = open(f"/checks/from-{sender}", "rb").read().replace(b"NAME", name.encode())
with smtplib.SMTP("127.0.0.1", 25, timeout=100, source_address=("127.0.0.2", 0)) as server:
    server.ehlo()
    server.docmd("XCLIENT", "ADDR=198.51.100.9")
    server.ehlo()
    server.sendmail(f"{sender}@example.org", [f"{user}@example.net" for user in users], content)' "$sender" "$name" "$@"
  await mark_of "$name" "$1"
}
mark_of() {  # mark_of NAME USER
  awk -v RS='\nFrom |^From ' -v name="Message-ID: <$1@example.org>" 'index($0, name)' "/var/mail/$2" 2>/dev/null |
    grep '^X-Bloomgate: '
}
lists() { bloomgate query "$whitelist" "$1" | grep -q '^listed'; }
entries_served() { status_has "serving $whitelist: $1 entries"; }

prepare() {
  useradd -m ann
  useradd -M -d /home/bob bob
  chown -R bob: /home/bob
  start_name_server
  systemd-run -q smtp-sink -u postfix 127.0.0.1:2500 100
  # What the server is before Bloomgate comes: it has users, who log in, and it writes a log.
  postconf -e 'mydestination = example.net, localhost' 'maillog_file = /var/log/mail.log' \
    'transport_maps = inline:{example.org=smtp:[127.0.0.1]:2500}' 'smtpd_authorized_xclient_hosts = 127.0.0.2' \
    'smtpd_relay_restrictions = permit_mynetworks, permit_sasl_authenticated, reject_unauth_destination' \
    'mynetworks = 127.0.0.1/32, 192.0.2.0/24'
  systemctl restart postfix
  for port in 25 53 2500; do await listens "$port"; done
  write ann old@example.org
}

check_the_lines_of_the_page_run_as_they_stand_there() {
  (($(wc -l <commands) >= 8))
  cd /srv/desk || return
  while read -r line; do yes 2>/dev/null | bash -euxc "$line"; done </checks/commands
}

check_who_was_written_to_before_is_listed_for_that_user_only() {
  lists 'old@example.org > ann@example.net'
  lists 'friend@example.org > bob@example.net'
  fails lists 'old@example.org > bob@example.net'
  await entries_served 2
  [[ $(verdict old answer-1 ann) == 'X-Bloomgate: deliver; reason=listed'* ]]
  [[ $(verdict friend answer-2 bob) == 'X-Bloomgate: deliver; reason=listed'* ]]
  [[ $(verdict old answer-3 bob) == 'X-Bloomgate: check; '* ]]
}

check_a_stranger_is_checked_until_a_user_writes_to_him_and_then_delivered_to_that_user_only() {
  [[ $(verdict joe stranger-1 ann) == 'X-Bloomgate: check; reason=not-proven'* ]]
  write ann joe@example.org
  [[ $(verdict joe stranger-2 ann) == 'X-Bloomgate: deliver; reason=learned; '*authentication=dkim* ]]
  [[ $(verdict joe stranger-3 bob) == 'X-Bloomgate: check; '* ]]
  [[ $(verdict joe stranger-4 ann bob) == 'X-Bloomgate: check; '* ]]
}

check_who_is_forgotten_is_checked_again() {
  await eval "bloomgate learned list $learned | grep -F 'joe@example.org > ann@example.net'"
  bash -eux forgetting
  await eval "[[ \$(verdict joe forgotten-\$RANDOM\$RANDOM ann) == 'X-Bloomgate: check; '* ]]"
}

check_the_timer_is_enabled_and_has_its_next_night() {
  [[ $(systemctl is-enabled bloomgate-update.timer) == enabled ]]
  [[ $(systemctl is-active bloomgate-update.timer) == active ]]
  systemctl list-timers --no-pager | grep bloomgate-update.service
  [[ -n $(systemctl show --value -p NextElapseUSecRealtime bloomgate-update.timer) ]]
}

check_what_the_timer_starts_renews_the_whitelist_with_what_was_learned() {
  write bob joe@example.org
  await eval "bloomgate learned list $learned | grep -F 'joe@example.org > bob@example.net'"
  systemctl start bloomgate-update
  lists 'joe@example.org > bob@example.net'
  lists 'old@example.org > ann@example.net'
  [[ -e $whitelist.1 ]]
  await eval "! status_has 'whitelist.bloom: 2 entries'"
  [[ $(verdict joe renewed-1 bob) == 'X-Bloomgate: deliver; '* ]]
}

check_it_says_what_it_has_done_and_keeps_the_lists_from_others() {
  journalctl -q -u bloomgate-update | grep "$whitelist is renewed"
  [[ $(systemctl show --value -p Result bloomgate-update) == success ]]
  fails runuser -u ann -- find /var/lib/bloomgate/lists -name '*.zst' -exec cat {} +
}

check_taken_out_it_leaves_the_whitelists_and_what_they_were_made_of() {
  setup-postfix --undo
  # apt lets dpkg write to a terminal of its own, whose lines end with CR LF.
  DEBIAN_FRONTEND=noninteractive apt-get -q -y purge bloomgate bloomgate-milter | tr -d '\r' | tee purged
  grep 'your data stays in /var/lib/bloomgate: learned lists whitelist.bloom whitelist.bloom.1$' purged
  grep 'to delete all of it: rm -r /var/lib/bloomgate$' purged
  [[ -s $learned && $(stat -c '%U %a' "$learned") == 'root 600' ]]
  [[ $(ls -A /var/lib/bloomgate) == learned$'\n'lists$'\n'whitelist.bloom$'\n'whitelist.bloom.1 ]]
  [[ $(ls -A /etc/bloomgate) == update.conf ]]
  [[ -z $(find /etc/systemd /lib/systemd /var/lib/systemd -name '*bloomgate*') ]]
}

run_checks
