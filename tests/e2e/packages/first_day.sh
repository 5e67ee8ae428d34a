#!/usr/bin/env bash
# In place of an operator who has README.md and nothing else: types the commands of /checks/commands, looks at mail, and
# takes all of it out again with those of /checks/undoing. See checking.sh. /checks/variant.sh says what checks mail on
# this server. Leaves `transcript`, too: each command with its time.
# shellcheck source=tests/e2e/systemd/checking.sh
. /checks/checking.sh
services='' ports='' checked='' spared=''
# shellcheck source=/dev/null
. ./variant.sh

seconds_since() { awk -v from="$1" -v to="$EPOCHREALTIME" 'BEGIN { printf "%.1f", to - from }'; }
note() { printf '[%5s s] %s\n' "$(seconds_since "$started")" "$*" >>/checks/transcript; }

# Puts the file $1 into the transcript, without apt's progress.
tell() { tr '\r' '\n' <"$1" | grep -vE '^\(Reading database|^$' | sed 's/^/          | /' >>transcript; }

# Types the lines of the file $1, in the folder with the packages and the list. Whoever is asked says yes.
type_in() {
  local - line before status
  set +x
  while read -r line; do
    note "# $line"
    before=$EPOCHREALTIME status=0
    (cd /srv/first-day && yes 2>/dev/null | bash -c "$line") >output 2>&1 || status=$?
    cat output
    tell output
    note "  exit code $status after $(seconds_since "$before") s"
    ((status == 0)) || return 1
  done <"$1"
}

sent_and_arrived() {
  send joe@example.org "/checks/$1"
  await has_arrived "$1"
}

# What is on the disk, but for what Debian's own programs keep there about themselves: each file with its owner, mode and
# content.
on_disk() {
  find / -xdev \( -path /checks -o -path /srv -o -path /root -o -path /tmp -o -path /var/tmp -o -path /var/log \
    -o -path /var/cache -o -path /var/mail -o -path /var/spool -o -path /var/lib/dpkg -o -path /var/lib/apt -o -path /var/lib/postfix \
    -o -path /var/lib/rspamd -o -path /var/lib/systemd/random-seed -o -path /dev -o -path '/etc/*-' \) -prune \
    -o -printf '%p %y %M %u:%g %l\n' | sort
  find /etc -type f ! -name '*-' ! -name '*.db' -exec sha256sum {} + | sort -k 2
}

prepare() {
  start_name_server
  for service in $services; do systemctl start "$service"; done
  for port in 25 53 $ports; do await listens "$port"; done
  on_disk >/checks/disk-before
}

check_three_commands_do_it() {
  (($(wc -l <commands) == 3))
  type_in commands
}

check_the_first_message_that_is_really_signed_is_delivered() {
  sent_and_arrived signed
  note "the first message: $(arrived signed | grep '^X-Bloomgate: ')"
  arrived signed | grep '^X-Bloomgate: deliver; reason=listed; .*authentication=dkim'
}

check_the_same_message_forged_is_checked() {
  sent_and_arrived forged
  note "the same, forged:   $(arrived forged | grep '^X-Bloomgate: ')"
  arrived forged | grep '^X-Bloomgate: check; '
  if [[ -n $checked ]]; then
    arrived forged | grep -E "$checked"
    fails grep -E "$spared" <(arrived forged)
    note "the check spared the first message: $(arrived signed | grep -E "$spared" || echo 'it has no trace of it')"
    arrived signed | grep -E "$spared" || fails grep -E "$checked" <(arrived signed)
  fi
}

check_the_doctor_finds_no_problem_with_the_daemon_and_its_place_in_postfix() {
  note '# bloomgate-milter doctor'
  bloomgate-milter doctor >output 2>&1 || true
  cat output
  tell output
  # Without a check nothing checks mail, before as after: the doctor says so, and nothing worse.
  fails grep -iE '^ *(problem|error)' <(grep -v 'nothing checks mail that is not listed' output)
}

check_the_doctor_sends_messages_and_says_what_became_of_each() {
  note '# bloomgate-milter doctor --send root@localhost --signed-message signed'
  bloomgate-milter doctor --send root@localhost --signed-message /checks/signed >output 2>&1 || true
  cat output
  grep '^[a-z]* *send: ' output >sent
  tell sent
  (($(wc -l <sent) == 3))
  grep '^ok .* an unlisted sender .*decision=check reason=not-listed.*status=sent' sent
  grep '^ok .* a listed sender, signed .*decision=deliver reason=listed.*status=sent' sent
  grep '^ok .* the same message, forged .*decision=check .*status=sent' sent
}

check_undone_and_purged_it_leaves_the_whitelist_and_nothing_else() {
  (($(wc -l <disk-before) > 5000))
  type_in undoing
  on_disk >disk-after
  diff disk-before disk-after >left || true
  cat left
  note "what is left: $(sed -n 's/^> //p' left | tr '\n' ';')"
  fails grep '^<' left
  [[ $(sed -n 's/^> \([^ ]*\) .*/\1/p' left) == /var/lib/bloomgate$'\n'/var/lib/bloomgate/whitelist.bloom ]]
  fails getent passwd bloomgate
  fails getent group bloomgate
}

check_mail_comes_in_as_before() {
  sent_and_arrived afterwards
  fails grep '^X-Bloomgate' <(arrived afterwards)
}

after_preparing() { started=$EPOCHREALTIME; }
run_checks
