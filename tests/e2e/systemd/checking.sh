#!/usr/bin/env bash
# What the scripts that run inside a container share, each of which sources it: they run as root, in place of the
# operator. Such a script has one function check_NAME for each check, in the order in which they are run, and ends with
# run_checks. /checks then has `results` (exit code and name of each), `log-NAME` of each, and `journal`.
set -u
cd /checks || exit 1

await() {  # await COMMAND...: until it succeeds, two minutes at most
  local - deadline=$((SECONDS + 120))
  set +x
  until "$@"; do
    ((SECONDS < deadline)) || { echo "waited for: $*"; return 1; }
    sleep 0.05
  done
}
# `! COMMAND` would not end a check: `set -e` looks past it.
fails() { if "$@"; then echo "should have failed: $*"; return 1; fi; }
skip() { echo "skipped: $*"; exit 77; }
listens() { bash -c ": <>/dev/tcp/127.0.0.1/$1" 2>/dev/null; }

# Of the service.
property() { systemctl show --value -p "$1" bloomgate-milter; }
is() { [[ $(property "$1") == "$2" ]]; }
status_has() { [[ $(property StatusText) == *"$1"* ]]; }

# send SENDER FILE [ADDRESS]: the message in the file, to root, as another mail server would send it: Debian's
# spamass-milter does not look at mail from 127.0.0.1. Its lines may end in LF alone. With an address, Postfix takes it
# for the client's; it has to let 127.0.0.2 say so. Fails where it is refused.
send() {
  /usr/bin/python3 -c '
import re, smtplib, sys
with smtplib.SMTP("127.0.0.1", 25, timeout=200, source_address=("127.0.0.2", 0)) as server, open(sys.argv[2], "rb") as message:
    for address in sys.argv[3:]:
        server.ehlo()
        server.docmd("XCLIENT", f"NAME=[UNAVAILABLE] ADDR={address}")
        server.ehlo()
    server.sendmail(sys.argv[1], ["root@localhost"], re.sub(rb"\r?\n", b"\r\n", message.read()))' "$@"
}
# send_new SENDER SUBJECT: a message of that subject.
send_new() {
  printf '%s\n' "From: $1" 'To: root@localhost' "Subject: $2" "Date: $(date -R)" "Message-ID: <$2@example.org>" \
    'MIME-Version: 1.0' 'Content-Type: text/plain; charset=us-ascii' '' 'Hello, this is a message.' >"/tmp/$2"
  send "$1" "/tmp/$2"
}
# See signed_mail.py.
start_name_server() {
  systemd-run --quiet --unit=name-server --setenv=PYTHONPATH=/checks \
    /usr/bin/python3 -B /checks/faulty_name_server_program.py 127.0.0.1 53 /checks/records.json
}
# A message that the container's Postfix has put into root's mailbox, by its subject.
arrived() { awk -v RS='\nFrom |^From ' -v subject="Subject: $1\n" 'index($0, subject)' /var/mail/root; }
has_arrived() { [[ -n $(arrived "$1" 2>/dev/null) ]]; }

# run_check NAME COMMAND: the exit code is in `code` then. Never in a condition, or before && or ||: bash would look past
# failures inside the command.
run_check() {
  (set -eux; "$2") >"log-$1" 2>&1 </dev/null
  code=$?
  echo "$code $1" >>results
}

# Where a check fails, after_failure is called, if the script has one. What comes before the checks is run like one.
run_checks() {
  local check code
  if declare -F prepare >/dev/null; then run_check prepare prepare; fi
  if declare -F after_preparing >/dev/null; then after_preparing; fi
  sed -n 's/^check_\(\w*\)().*/\1/p' "$0" | while read -r check; do
    run_check "$check" "check_$check"
    if ((code == 0 || code == 77)) || ! declare -F after_failure >/dev/null; then continue; fi
    (set -x; after_failure) >"log-after-$check" 2>&1 </dev/null
  done
  { systemctl --failed --no-pager; journalctl -q; } >journal
}
