#!/usr/bin/env bash
# Takes the steps of a recipe for Sendmail as its page has them, and sends mail: see checking.sh. /checks/recipe.sh says
# which recipe, and what is to be seen.
# shellcheck source=tests/e2e/systemd/checking.sh
. /checks/checking.sh
recipe='' services='' ports='' milter='' checked='' spared='' script=()
# shellcheck source=/dev/null
. ./recipe.sh

# sent_and_arrived SUBJECT: one of those of signed_mail.py.
sent_and_arrived() {
  send joe@example.org "/checks/$1"
  await has_arrived "$1"
}
new_sent_and_arrived() {
  send_new other@example.org "$1"
  await has_arrived "$1"
}
all_listen() { for port in 25 $ports; do await listens "$port"; done; }

prepare() {
  systemd-sysusers
  systemd-tmpfiles --create
  mkdir -p /etc/bloomgate
  echo joe@example.org | bloomgate build --output /var/lib/bloomgate/whitelist.bloom -
  start_name_server
  await listens 53
  # Sendmail, too: on Debian 13 nothing starts it when the machine does, as installing it does.
  # shellcheck disable=SC2086  # several
  systemctl start bloomgate-milter sendmail $services
  all_listen
  new_sent_and_arrived before
  fails grep -E "^X-Bloomgate|$checked" <(arrived before)
}

check_the_steps_run_as_they_are_written() {
  cd "/root/bloomgate/config/mta/$recipe"
  bash -eux /checks/steps
  all_listen
}

check_listed_mail_that_is_signed_is_delivered_and_spared_the_check() {
  sent_and_arrived signed
  arrived signed | grep '^X-Bloomgate: deliver; reason=listed; .*authentication=dkim'
  if [[ -n $spared ]]; then arrived signed | grep -E "$spared"; else fails grep -E "$checked" <(arrived signed); fi
}

check_forged_mail_and_mail_of_others_is_checked() {
  sent_and_arrived forged
  new_sent_and_arrived other-1
  for message in forged other-1; do
    arrived $message | grep '^X-Bloomgate: check; '
    arrived $message | grep -E "$checked"
    [[ -z $spared ]] || fails grep -E "$spared" <(arrived $message)
  done
}

check_the_lines_for_those_who_let_mail_wait_do_so() {
  cd "/root/bloomgate/config/mta/$recipe"
  bash -eux /checks/waiting
  all_listen
  new_sent_and_arrived other-3
  systemctl stop "$milter"
  await eval '! send_new other@example.org other-4'
}

check_undo_leaves_no_trace() {
  ((${#script[@]})) || return 0
  "${script[@]}" --list
  "${script[@]}" --undo
  # The comments of sendmail.cf say when it was made, and of what.
  diff -r --no-dereference -I '^#' /checks/etc-before /etc -x '*-' -x '*.db'
  new_sent_and_arrived other-5
  fails grep '^X-Bloomgate' <(arrived other-5)
}

after_preparing() {
  make -C /etc/mail  # makes what Debian's package has not made yet
  cp -a /etc /checks/etc-before
} >/checks/log-before 2>&1
run_checks
