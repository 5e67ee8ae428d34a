#!/usr/bin/env bash
# Takes the steps of a recipe as its page has them, and sends mail: see checking.sh. /checks/recipe.sh says which recipe,
# and what is to be seen.
# shellcheck source=tests/e2e/systemd/checking.sh
. /checks/checking.sh
recipe='' kind='' checked='' spared='' everywhere='' virus_check='' whose='' script=()
# shellcheck source=/dev/null
. ./recipe.sh

sent_and_arrived() {  # sent_and_arrived SENDER SUBJECT
  send_new "$1" "$2"
  await has_arrived "$2"
}

prepare() {
  systemd-sysusers
  systemd-tmpfiles --create
  mkdir -p /etc/bloomgate
  # No milter here authenticates anything.
  echo 'authentication = off' >>/etc/bloomgate/bloomgate-milter.conf
  echo listed@example.org | bloomgate build --output /var/lib/bloomgate/whitelist.bloom -
  systemctl start bloomgate-milter
  before_the_steps
  await eval 'echo QUIT >/dev/tcp/127.0.0.1/25'
}

check_the_steps_run_as_they_are_written() {
  cd "/root/bloomgate/config/mta/$recipe"
  bash -eux /checks/steps
  check_listens
}

check_listed_mail_is_marked_and_other_mail_is_checked() {
  sent_and_arrived listed@example.org listed-1
  sent_and_arrived other@example.org other-1
  arrived listed-1 | grep '^X-Bloomgate: deliver; '
  arrived other-1 | grep '^X-Bloomgate: check; '
  arrived other-1 | grep -E "$checked"
  for message in listed-1 other-1; do arrived $message | grep -E "$everywhere"; done
  if [[ -n $spared ]]; then
    arrived listed-1 | grep -E "$spared"
    fails grep -E "$spared" <(arrived other-1)
  else
    fails grep -E "$checked" <(arrived listed-1)
  fi
}

# Refused while the client waits, or held in the queue: it arrives nowhere.
check_infected_mail_does_not_arrive_and_other_mail_does_while_clamd_is_down() {
  [[ -n $virus_check ]] || return 0
  for sender in listed other; do
    if send $sender@example.org /checks/infected; then
      await eval "postqueue -p | grep -E '^[0-9A-F]+!.* $sender@example.org'"
    fi
  done
  systemctl stop clamav-daemon.socket clamav-daemon
  for sender in listed other; do sent_and_arrived $sender@example.org $sender-8; done
  fails has_arrived infected
  systemctl start clamav-daemon.socket clamav-daemon
  await test -S /run/clamav/clamd.ctl
}

check_the_lines_for_those_who_let_mail_wait_do_so() {
  [[ -s /checks/waiting ]] || return 0
  cd "/root/bloomgate/config/mta/$recipe"
  bash -eux /checks/waiting
  check_listens
  sent_and_arrived "$whose@example.org" waiting-1
  stop_what_mail_waits_for
  if [[ $kind == content-filter ]]; then
    send_new "$whose@example.org" waiting-2
    await eval "postqueue -p | grep $whose@example.org"
  else
    await eval "! send_new $whose@example.org waiting-2"
  fi
}

check_undo_leaves_no_trace() {
  [[ $kind == script ]] || return 0
  "${script[@]}" --list
  "${script[@]}" --undo
  diff -r --no-dereference /checks/etc-before /etc -x '*-' -x '*.db' -x subgid -x subuid
  sent_and_arrived other@example.org other-7
  fails grep -E '^X-Bloomgate' <(arrived other-7)
}

after_preparing() { cp -a /etc /checks/etc-before; }
run_checks
