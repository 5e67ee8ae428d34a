#!/usr/bin/env bash
# The unit under a real systemd: see checking.sh. Each check is named by what holds, and leaves the daemon as it found it;
# where it fails, that is done for it.
# shellcheck source=tests/e2e/systemd/checking.sh
. /checks/checking.sh

# Fails where it does not run: 0 is a process to none of the commands that take one.
main_pid() { property MainPID | grep -vx 0; }
# Again and again, faster than an operator would: systemd is to forget the starts before.
restart_it() {
  systemctl reset-failed bloomgate-milter || true  # it says no of a unit that was never started
  systemctl restart bloomgate-milter
}
# By name rather than by unit: where the kernel's cgroups are of version 1, the journal does not know the
# unit.
journal_has() { journalctl -q ${cursor:+--after-cursor "$cursor"} | grep -qE "bloomgate-milter.*($1)"; }
mark_journal() { cursor=$(journalctl -n 0 --show-cursor | sed -n 's/^-- cursor: //p'); }
# The daemon as most checks want it: it serves a whitelist of listed@example.org, with nothing else set than
# what is in settings.conf.
put_back() {
  rm -rf "$drop_ins"
  systemctl daemon-reload
  cp settings.conf "$conf"
  whitelist listed@example.org
  restart_it
}
whitelist() { printf '%s\n' "$@" | bloomgate build --allow-shrink --output /var/lib/bloomgate/whitelist.bloom -; }

# Sends one message from $1, with more options of smtp-source, and prints where it went: light-path or
# deep-check.
way_of() {
  local to="root+$RANDOM$RANDOM@localhost"
  smtp-source -f "$@" -t "$to" 127.0.0.1:25
  await sent_to "$to" >&2
  journalctl -q -t postfix/light-path/smtp -t postfix/deep-check/smtp | grep -F "to=<$to>" |
    sed -E 's#.* postfix/([a-z-]+)/smtp.*#\1#'
}
sent_to() { journalctl -q | grep -F "to=<$1>" | grep -q 'status=sent'; }

check_sysusers_makes_the_user() {
  systemd-sysusers
  [[ $(id -un bloomgate) == bloomgate && $(id -gn bloomgate) == bloomgate ]]
  (($(id -u bloomgate) < 1000))
}

check_tmpfiles_makes_the_folder_of_the_whitelist() {
  systemd-tmpfiles --create
  [[ $(stat -c '%U:%G %a' /var/lib/bloomgate) == "bloomgate:bloomgate 755" ]]
}

check_systemd_finds_nothing_wrong_with_the_units() {
  local found
  found=$(systemd-analyze verify --man=no bloomgate-milter.service bloomgate-update.service bloomgate-update.timer \
    bloomgate-pull@list.service bloomgate-share.service 2>&1)
  [[ -z $found ]]
}

check_without_a_whitelist_it_starts_and_says_that_everything_is_checked() {
  mark_journal
  systemctl start bloomgate-milter
  is ActiveState active
  is SubState running
  status_has 'no whitelist is loaded: all mail is sent to the deeper checks'
  await journal_has 'starting without a whitelist.*whitelist.bloom: No such file'
  bloomgate-milter doctor >found || true
  grep -q '^problem  whitelist: /var/lib/bloomgate/whitelist.bloom cannot be found' found
}

check_a_whitelist_is_used_as_soon_as_it_is_there() {
  local pid
  pid=$(main_pid)
  whitelist listed@example.org
  await status_has 'serving /var/lib/bloomgate/whitelist.bloom: 1 entry'
  is MainPID "$pid"
}

check_the_socket_is_for_its_user_and_group_only() {
  [[ $(stat -c '%F %U:%G %a' /run/bloomgate/milter.sock) == "socket bloomgate:bloomgate 660" ]]
}

check_it_runs_as_its_own_user_without_any_privilege() {
  local process
  process=/proc/$(main_pid)
  [[ $(stat -c '%U:%G' "$process") == bloomgate:bloomgate ]]
  grep -qx $'CapEff:\t0000000000000000' "$process/status"
  grep -qx $'CapBnd:\t0000000000000000' "$process/status"
  grep -qx $'NoNewPrivs:\t1' "$process/status"
  grep -qx $'Seccomp:\t2' "$process/status"
}

verifier() { cat /proc/"$(main_pid)"/task/*/children | tr -d ' '; }
another_verifier() { [[ -n $(verifier) && $(verifier) != "$1" ]]; }

check_signatures_are_verified_in_a_process_of_its_own_that_comes_back_after_a_crash() {
  local crashing
  crashing=$(verifier)
  grep -qx $'CapEff:\t0000000000000000' "/proc/$crashing/status"
  grep -qx $'Seccomp:\t2' "/proc/$crashing/status"
  kill -SEGV "$crashing"
  await another_verifier "$crashing"
  is ActiveState active
  is NRestarts 0
}

check_it_cannot_write_the_whitelist() {
  nsenter --mount --root --target "$(main_pid)" touch /run/bloomgate/probe
  fails nsenter --mount --root --target "$(main_pid)" touch /var/lib/bloomgate/probe
  nsenter --mount --root --target "$(main_pid)" touch /var/lib/bloomgate/learned/probe  # what is learned
}

check_postfix_sends_listed_mail_the_light_way_and_all_other_the_deep() {
  systemd-run -q smtp-sink -u postfix 127.0.0.1:10024 100
  # As config/mta/postfix/main.cf tells an operator to do it.
  cat mta/main.cf >>/etc/postfix/main.cf
  cat mta/master.cf >>/etc/postfix/master.cf
  cp mta/*_header_checks /etc/postfix
  # No milter here authenticates anything.
  echo 'authentication = off' >>settings.conf
  put_back
  usermod -a -G bloomgate postfix
  postconf -F smtp/inet/chroot=n
  systemctl restart postfix
  [[ $(way_of listed@example.org) == light-path ]]
  [[ $(way_of unlisted@example.org) == deep-check ]]
}

check_the_journal_tells_each_decision() {
  mark_journal
  way_of listed@example.org
  way_of unlisted@example.org
  await journal_has 'listed@example.org.*deliver'
  await journal_has 'unlisted@example.org.*check'
}

check_reload_serves_the_new_whitelist_with_the_same_process() {
  local pid
  pid=$(main_pid)
  mark_journal
  whitelist listed@example.org new@example.org
  systemctl reload bloomgate-milter
  await journal_has 'loaded .*: 2 entries'
  [[ $(way_of new@example.org) == light-path ]]
  is MainPID "$pid"
  is ActiveState active
  [[ $(way_of listed@example.org) == light-path ]]
  put_back
}

check_the_watchdog_starts_a_daemon_again_that_does_not_go_on() {
  local pid
  mkdir -p "$drop_ins"
  printf '[Service]\nWatchdogSec=10s\nRestartSec=100ms\n' >"$drop_ins/watchdog.conf"
  systemctl daemon-reload
  restart_it
  pid=$(main_pid)
  await watchdog_is_told_after "$(told_watchdog)"
  await watchdog_is_told_after "$(told_watchdog)"
  is MainPID "$pid"
  mark_journal
  kill -STOP "$pid"
  await another_main "$pid"
  await is ActiveState active
  journalctl -q --after-cursor "$cursor" | grep -q 'Watchdog timeout'
  put_back
}
told_watchdog() { property WatchdogTimestampMonotonic; }
watchdog_is_told_after() { (($(told_watchdog) > $1)); }
another_main() { [[ -n $(main_pid) && $(main_pid) != "$1" ]]; }

# Whether a thread of the daemon has the policy SCHED_IDLE (the 41st field, proc(5)).
has_idle_thread() {
  awk '{ sub(/.*\) /, ""); if ($39 == 5) found = 1 } END { exit !found }' /proc/"$(main_pid)"/task/*/stat 2>/dev/null
}
is_checked_by_idle_threads() {
  local tries
  systemctl --no-block reload bloomgate-milter
  for tries in {1..50}; do has_idle_thread && return; done
  return "$tries"
}

check_the_check_of_a_large_whitelist_makes_room_for_mail() {
  bloomgate build --quiet --expected-entries 2e8 --output /var/lib/bloomgate/whitelist.bloom - <<<listed@example.org
  await is_checked_by_idle_threads
  put_back
}

check_a_damaged_whitelist_is_refused_and_the_old_one_stays() {
  local pid
  whitelist listed@example.org new@example.org
  restart_it
  pid=$(main_pid)
  mark_journal
  cp /var/lib/bloomgate/whitelist.bloom good.bloom
  truncate -s -1 good.bloom
  cp good.bloom /var/lib/bloomgate/.damaged
  mv /var/lib/bloomgate/.damaged /var/lib/bloomgate/whitelist.bloom
  fails systemctl reload bloomgate-milter
  status_has 'reload refused'
  await journal_has 'reload refused'
  fails bloomgate-milter reload 2>refused
  grep 'reload refused' refused
  bloomgate-milter doctor >found || true
  grep '^problem  service: the daemon says: reload refused' found
  is MainPID "$pid"
  is ActiveState active
  [[ $(way_of new@example.org) == light-path ]]
  whitelist listed@example.org
  bloomgate-milter reload >accepted
  grep '^serving ' accepted
  fails status_has refused
  bloomgate-milter doctor >found || true
  fails grep 'reload refused' found
}

check_a_reload_with_a_bad_configuration_fails_and_the_daemon_goes_on() {
  local pid
  pid=$(main_pid)
  mark_journal
  echo 'whitelsit = /nowhere' >>"$conf"
  fails systemctl reload bloomgate-milter
  await journal_has whitelsit
  is MainPID "$pid"
  is ActiveState active
  [[ $(way_of listed@example.org) == light-path ]]
  cp settings.conf "$conf"
  systemctl reload bloomgate-milter
}

check_a_reload_takes_in_a_changed_configuration_with_the_same_process() {
  local pid
  pid=$(main_pid)
  # What anybody could claim, since no milter here authenticates anything.
  echo 'own-domains = example.org' >>"$conf"
  systemctl reload bloomgate-milter
  [[ $(way_of listed@example.org) == deep-check ]]
  cp settings.conf "$conf"
  echo 'mode = observe' >>"$conf"
  systemctl reload bloomgate-milter
  mark_journal
  [[ $(way_of listed@example.org) == deep-check ]]
  await journal_has 'listed@example.org.*decision=deliver'
  cp settings.conf "$conf"
  systemctl reload bloomgate-milter
  [[ $(way_of listed@example.org) == light-path ]]
  is MainPID "$pid"
}

check_a_reload_of_a_configuration_with_a_whitelist_that_is_missing_is_refused() {
  local pid
  pid=$(main_pid)
  printf 'whitelist = %s\n' /var/lib/bloomgate/whitelist.bloom /var/lib/bloomgate/missing.bloom >>"$conf"
  fails systemctl reload bloomgate-milter
  status_has 'reload refused'
  [[ $(way_of listed@example.org) == light-path ]]
  cp settings.conf "$conf"
  systemctl reload bloomgate-milter
  is MainPID "$pid"
}

check_a_reload_names_the_options_that_wait_for_a_restart() {
  local pid
  pid=$(main_pid)
  mark_journal
  echo 'socket = unix:/run/bloomgate/other.sock' >>"$conf"
  systemctl reload bloomgate-milter
  status_has 'waits for a restart: socket'
  await journal_has 'take effect at a restart only.*: socket$'
  bloomgate-milter doctor >found || true
  grep '^warning  service: the daemon waits for a restart: socket' found
  [[ -S /run/bloomgate/milter.sock && ! -e /run/bloomgate/other.sock ]]
  cp settings.conf "$conf"
  systemctl reload bloomgate-milter
  fails status_has 'waits for a restart'
  is MainPID "$pid"
}

check_a_hangup_ends_it_and_systemd_starts_it_again() {
  local pid
  pid=$(main_pid)
  kill -HUP "$pid"
  await started_after "$pid"
  [[ $(way_of listed@example.org) == light-path ]]
}

check_after_a_crash_systemd_starts_it_again() {
  local pid
  pid=$(main_pid)
  kill -KILL "$pid"
  await started_after "$pid"
  [[ $(way_of listed@example.org) == light-path ]]
}
started_after() { is ActiveState active && ! is MainPID "$1" && ! is MainPID 0; }

check_after_many_crashes_systemd_still_starts_it_again() {
  mkdir -p "$drop_ins"
  printf '[Service]\nRestartSec=100ms\n' >"$drop_ins/fast.conf"
  systemctl daemon-reload
  local pid
  for _ in {1..8}; do
    pid=$(main_pid)
    kill -KILL "$pid"
    await started_after "$pid"
  done
  put_back
}

check_lock_memory_keeps_the_whitelist_in_memory() {
  [[ ! -e no-mlock ]] || skip "this machine lets nobody lock memory (mlock)"
  is LimitMEMLOCK infinity
  echo 'lock-memory = yes' >>"$conf"
  # 4 MB: less than the limit that a machine without the right to raise it (a container, say) starts with.
  echo listed@example.org |
    bloomgate build --output /var/lib/bloomgate/whitelist.bloom --expected-entries 4000000 -
  restart_it
  local kilobytes
  kilobytes=$(awk '$1 == "VmLck:" { print $2 }' "/proc/$(main_pid)/status")
  ((kilobytes * 1024 >= 4000000))
  put_back
}

# Plays spamd: keeps what it is asked, and calls it spam. The daemon asks it.
ask_a_checker() {
  cat >says-spam <<'END'
#!/bin/sh
cat >>/checks/asked
printf 'SPAMD/1.1 0 EX_OK\r\nSpam: True ; 9.0 / 5.0\r\n\r\nA_TEST'
END
  chmod +x says-spam
  systemctl is-active -q says-spam ||
    systemd-run -q --unit says-spam systemd-socket-activate --accept --inetd -l 127.0.0.1:7830 /checks/says-spam
  rm -f asked
  echo 'deep-check = spamd:inet:7830@127.0.0.1' >>"$conf"
  restart_it
}

check_it_reaches_a_spam_checker_and_keeps_large_mail_in_a_folder_of_its_own() {
  ask_a_checker
  mark_journal
  [[ $(way_of listed@example.org -l 1000000) == light-path ]]
  [[ ! -e asked ]]
  [[ $(way_of unlisted@example.org -l 1000000) == deep-check ]]
  await journal_has 'unlisted@example.org.*deep_check=spam score=9.0/5.0'
  (($(stat -c %s asked) > 1000000))
  put_back
}

check_a_message_that_its_folder_cannot_take_is_refused_for_now_and_the_daemon_stays() {
  mkdir -p "$drop_ins"
  printf '[Service]\nLimitFSIZE=1000\n' >"$drop_ins/full.conf"
  systemctl daemon-reload
  echo 'deep-check-failure = tempfail' >>"$conf"
  ask_a_checker
  local pid
  pid=$(main_pid)
  mark_journal
  fails smtp-source -f unlisted@example.org -t root@localhost -l 1000000 127.0.0.1:25
  await journal_has 'deeper check: .*write a temporary file in /var/tmp: File too large'
  [[ $(way_of unlisted@example.org) == deep-check ]]
  is MainPID "$pid"
  put_back
}

check_a_bad_configuration_fails_the_start_and_says_where_and_once_mended_it_starts() {
  mark_journal
  echo 'whitelsit = /nowhere' >>"$conf"
  fails restart_it
  await journal_has whitelsit
  cp settings.conf "$conf"
  await is ActiveState active
  put_back
}

update_has() { [[ $(systemctl show --value -p "$1" bloomgate-update) == "$2" ]]; }
kept_of_updates() {
  (cd /var/lib/bloomgate && find . -path ./learned -prune -o -type f ! -name '*.update' -exec sha256sum {} +) | sort
}

check_without_its_configuration_an_update_does_nothing() {
  kept_of_updates >before
  systemctl start bloomgate-update
  update_has ConditionResult no
  kept_of_updates | diff before -
}

check_an_update_makes_a_whitelist_that_the_daemon_takes_in() {
  local pid
  pid=$(main_pid)
  mark_journal
  printf 'Nov 20 10:00:0%d mx postfix/%s\n' 1 'submission/smtpd[1]: 4F1A2B0001: client=a.example[192.0.2.1], sasl_method=PLAIN, sasl_username=ann@example.net' \
    2 'qmgr[2]: 4F1A2B0001: from=<ann@example.net>, size=900, nrcpt=1 (queue active)' \
    3 'smtp[3]: 4F1A2B0001: to=<renewed@example.org>, relay=mx.example[192.0.2.2]:25, delay=1, dsn=2.0.0, status=sent (250 ok)' \
    4 'qmgr[2]: 4F1A2B0001: removed' >mail.log
  cp /usr/share/bloomgate/config/update.conf /etc/bloomgate
  echo 'HARVEST="--own-domain example.net --for-all /checks/mail.log"' >>/etc/bloomgate/update.conf
  [[ $(way_of renewed@example.org) == deep-check ]]
  systemctl start bloomgate-update
  update_has Result success
  await journal_has 'loaded .*: 1 entry'
  [[ $(way_of renewed@example.org) == light-path ]]
  [[ $(way_of listed@example.org) == deep-check ]]
  is MainPID "$pid"
  bloomgate query /var/lib/bloomgate/whitelist.bloom.1 listed@example.org
}

check_an_update_of_which_a_step_fails_changes_nothing_and_the_unit_fails_with_its_exit_code() {
  local line status
  kept_of_updates >before
  for line in 'HARVEST="--own-domain example.net --for-all /none":66' 'BUILD_OPTIONS="--bits-per-entry 900":64' \
    $'HARVEST=\nLEARNED=/none:66'; do
    cp /etc/bloomgate/update.conf good-update.conf
    status=${line##*:}
    echo "${line%:*}" >>/etc/bloomgate/update.conf
    fails systemctl start bloomgate-update
    update_has Result exit-code
    update_has ExecMainStatus "$status"
    systemctl --failed --no-pager | grep bloomgate-update
    kept_of_updates | diff before -
    cp good-update.conf /etc/bloomgate/update.conf
    systemctl reset-failed bloomgate-update
  done
  [[ $(way_of renewed@example.org) == light-path ]]
  systemctl start bloomgate-update
  rm -r /etc/bloomgate/update.conf /var/lib/bloomgate/lists /var/lib/bloomgate/whitelist.bloom.1
  put_back
}

check_it_stops_cleanly_and_the_socket_goes() {
  systemctl stop bloomgate-milter
  is ActiveState inactive
  is Result success
  is ExecMainStatus 0
  [[ ! -e /run/bloomgate ]]
  [[ $(way_of listed@example.org) == deep-check ]]
}

check_nothing_was_denied_to_it() {
  journalctl -q >journal
  fails grep -E 'bloomgate.*(SIGSYS|core-dump|denied)' journal
}

cursor=
conf=/etc/bloomgate/bloomgate-milter.conf
drop_ins=/etc/systemd/system/bloomgate-milter.service.d
cp "$conf" settings.conf
after_failure() { put_back; }
run_checks
