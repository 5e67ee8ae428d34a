#!/usr/bin/env bash
# Runs inside the container, as root, in place of the operator: takes the steps of a recipe as its page has them, and
# sends mail. /checks/recipe.sh says which recipe, and what is to be seen. Leaves `results` (exit code and name of each
# check), `log-NAME` of each, and `journal`.
set -u
cd /checks || exit 1
recipe='' kind='' checked='' script=()
# shellcheck source=/dev/null
. ./recipe.sh

await() {  # await COMMAND...: until it succeeds, two minutes at most
  local - deadline=$((SECONDS + 120))
  set +x
  until "$@"; do
    ((SECONDS < deadline)) || { echo "waited for: $*"; return 1; }
    sleep 0.1
  done
}
fails() { if "$@"; then echo "should have failed: $*"; return 1; fi; }

# Sends a message from $1 with the subject $2, and more options of smtp-source; fails where it is refused.
send() { smtp-source -f "$1" -t root@localhost -S "$2" "${@:3}" 127.0.0.1:25; }
# The message with the subject $1, as it arrived.
arrived() { awk -v RS='\nFrom |^From ' -v subject="Subject: $1\n" 'index($0, subject)' /var/mail/root; }
has_arrived() { [[ -n $(arrived "$1" 2>/dev/null) ]]; }
listens() { bash -c ": <>/dev/tcp/127.0.0.1/$1"; }
sent_and_arrived() {  # sent_and_arrived SENDER SUBJECT
  send "$1" "$2"
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
  fails grep -E "$checked" <(arrived listed-1)
}

check_no_mail_is_refused_while_bloomgate_is_down() {
  systemctl stop bloomgate-milter
  sent_and_arrived listed@example.org listed-2
  fails grep '^X-Bloomgate' <(arrived listed-2)
  systemctl start bloomgate-milter
}

check_no_mail_is_refused_while_the_check_is_down() {
  stop_the_check
  send listed@example.org listed-3
  send other@example.org other-3
  await has_arrived listed-3
  start_the_check
  await has_arrived other-3
}

check_the_lines_for_those_who_let_mail_wait_do_so() {
  [[ -s /checks/waiting ]] || return 0
  cd "/root/bloomgate/config/mta/$recipe"
  bash -eux /checks/waiting
  check_listens
  sent_and_arrived other@example.org other-4
  stop_the_check
  if [[ $kind == content-filter ]]; then
    send other@example.org other-5
    await eval 'postqueue -p | grep other@example.org'
  else
    await eval '! send other@example.org other-6'
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

(set -eux; prepare) >log-prepare 2>&1 </dev/null
echo "$? prepare" >>results
cp -a /etc /checks/etc-before
sed -n 's/^check_\(\w*\)().*/\1/p' "$0" | while read -r check; do
  (set -eux; "check_$check") >"log-$check" 2>&1 </dev/null
  echo "$? $check" >>results
done
{ systemctl --failed --no-pager; journalctl -q; } >journal
