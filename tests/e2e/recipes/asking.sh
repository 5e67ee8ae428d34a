#!/usr/bin/env bash
# Takes the steps of the pages for Exim and for rspamd that ask for senders without a milter, as they are written, and
# sends mail: see checking.sh.
# shellcheck source=tests/e2e/systemd/checking.sh
. /checks/checking.sh

# Debian's Exim delivers no mail as root: what is for root is in the mailbox of `mail`.
arrived() { awk -v RS='\nFrom |^From ' -v subject="Subject: $1\n" 'index($0, subject)' /var/mail/mail; }
sent_and_arrived() {  # sent_and_arrived SENDER SUBJECT
  send_new "$1" "$2"
  await has_arrived "$2"
}
readonly NOTE='^X-Bloomgate-Listed: yes; unproven$' SYMBOL=BLOOMGATE_LISTED
symbols_of() { rspamc --connect=127.0.0.1:11333 --from="$1" --rcpt=root@localhost /tmp/before; }

prepare() {
  systemd-sysusers
  systemd-tmpfiles --create
  mkdir -p /etc/bloomgate
  echo listed@example.org | bloomgate build --output /var/lib/bloomgate/whitelist.bloom -
  systemctl start bloomgate-milter
  for port in 25 11333; do await listens "$port"; done
  sent_and_arrived listed@example.org before
  fails grep "$NOTE" <(arrived before)
  fails grep "$SYMBOL" <(symbols_of listed@example.org)
}

check_the_steps_for_exim_run_as_they_are_written() {
  cd /root/bloomgate
  bash -eux /checks/steps-exim
  for port in 25 9813; do await listens "$port"; done
}

check_exim_notes_a_listed_sender_and_nobody_else() {
  sent_and_arrived listed@example.org listed-1
  sent_and_arrived other@example.org other-1
  arrived listed-1 | grep "$NOTE"
  fails grep "$NOTE" <(arrived other-1)
}

check_the_steps_for_rspamd_run_as_they_are_written() {
  cd /root/bloomgate
  bash -eux /checks/steps-rspamd-lookup
  for port in 11333 9813; do await listens "$port"; done
}

check_rspamd_gives_a_listed_sender_its_symbol_and_nobody_else() {
  symbols_of listed@example.org | grep "$SYMBOL (0.00)"
  fails grep "$SYMBOL" <(symbols_of other@example.org)
}

run_checks
