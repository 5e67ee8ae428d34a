#!/usr/bin/env bash
# Takes the steps of the page about authentication as they are written, and sends mail: see checking.sh.
# shellcheck source=tests/e2e/systemd/checking.sh
. /checks/checking.sh

# For OpenDMARC, mail of this machine always passes SPF.
readonly STRANGER=192.0.2.7
sent_and_arrived() {
  send joe@example.org "/checks/$1" "$STRANGER"
  await has_arrived "$1"
}

prepare() {
  systemd-sysusers
  systemd-tmpfiles --create
  mkdir -p /etc/bloomgate
  echo joe@example.org | bloomgate build --output /var/lib/bloomgate/whitelist.bloom -
  start_name_server
  for port in 25 53; do await listens "$port"; done
  postconf -e smtpd_authorized_xclient_hosts=127.0.0.2
  postfix reload
  systemctl start bloomgate-milter
}

check_the_steps_run_as_they_are_written() {
  cd /root/bloomgate/config/mta/authentication
  bash -eux /checks/steps
  await test -S /run/opendkim/opendkim.sock
}

check_a_message_that_opendkim_verified_is_delivered() {
  sent_and_arrived signed
  arrived signed | grep 'dkim=pass .*header.d=example.org'
  arrived signed | grep '^X-Bloomgate: deliver; reason=listed; .*authentication=dkim'
}

check_a_forged_one_is_checked_though_it_brings_results_in_the_servers_name() {
  { echo "Authentication-Results: $(postconf -xh myhostname); dkim=pass header.d=example.org"; cat forged; } >claims
  send joe@example.org /checks/claims "$STRANGER"
  await has_arrived forged
  arrived forged | grep '^X-Bloomgate: check; '
  fails grep 'dkim=pass' <(arrived forged)
}

run_checks
