#!/usr/bin/env bash
# From a Debian without Bloomgate to one without it again: see checking.sh. Each check is named by what holds.
# /checks/old has packages of an older version, whose shipped configuration differs; /checks/new has ours.
# shellcheck source=tests/e2e/systemd/checking.sh
. /checks/checking.sh
export DEBIAN_FRONTEND=noninteractive

whitelist() { printf '%s\n' "$@" | bloomgate build --allow-shrink --quiet --output /var/lib/bloomgate/whitelist.bloom -; }
apt_offline() { apt-get -q -y --no-install-recommends -o Dpkg::Use-Pty=0 "$@"; }
installed_version() { dpkg-query -W -f '${Version}' "$1"; }
conf=/etc/bloomgate/bloomgate-milter.conf

check_the_older_version_is_installed_and_its_service_runs() {
  apt_offline install ./old/*.deb
  is ActiveState active
  systemctl is-enabled bloomgate-milter
  [[ $(id -un bloomgate) == bloomgate ]]
  [[ $(stat -c '%U:%G %a' /var/lib/bloomgate) == "bloomgate:bloomgate 755" ]]
  [[ -S /run/bloomgate/milter.sock ]]
}

check_the_service_is_quiet_until_it_has_a_whitelist() {
  status_has 'no whitelist is loaded: all mail is sent to the deeper checks'
  is NRestarts 0
  # One line about the missing whitelist, and nothing worse.
  (($(journalctl -q | grep -c 'bloomgate-milter.*starting without a whitelist') == 1))
  fails grep -E 'bloomgate-milter\[.*(error|critical)' <(journalctl -q)
}

check_an_upgrade_keeps_what_was_edited_and_restarts_the_service() {
  local before
  before=$(property MainPID)
  echo 'own-domains = edited.example' >>"$conf"
  echo 'joe@revoked.example' >>/etc/bloomgate/revoked.txt
  echo 'kept.example' >>/etc/bloomgate/free-mail-domains.txt
  apt_offline -o Dpkg::Options::=--force-confold install ./new/*.deb
  [[ $(installed_version bloomgate-milter) != "$(<old/version)" ]]
  grep -qx 'own-domains = edited.example' "$conf"
  grep -qx 'joe@revoked.example' /etc/bloomgate/revoked.txt
  grep -qx 'kept.example' /etc/bloomgate/free-mail-domains.txt
  is ActiveState active
  fails is MainPID "$before"
  status_has '1 revoked entry'
}

check_a_whitelist_is_used_as_soon_as_it_is_there() {
  local pid
  pid=$(property MainPID)
  whitelist listed@example.org
  await status_has 'serving /var/lib/bloomgate/whitelist.bloom: 1 entry'
  is MainPID "$pid"
}

check_each_program_has_its_manual_and_its_completions() {
  local page program
  for page in man1/bloomgate.1 man5/bloomgate-milter.conf.5 man8/bloomgate-milter.8 man8/bloomgate-update.8 \
    man8/setup-postfix.8 man8/setup-sendmail.8; do
    dpkg -L bloomgate bloomgate-milter | grep -qx "/usr/share/man/$page.gz"
  done
  for program in bloomgate bloomgate-milter; do
    dpkg -L "$program" | grep -qx "/usr/share/bash-completion/completions/$program"
    dpkg -L "$program" | grep -qx "/usr/share/zsh/vendor-completions/_$program"
    dpkg -L "$program" | grep -qx "/usr/share/fish/vendor_completions.d/$program.fish"
  done
}

check_setup_postfix_finds_its_recipes() {
  setup-postfix --help >/dev/null
  setup-sendmail --help >/dev/null
  [[ -e /usr/share/bloomgate/config/mta/postfix/main.cf ]]
}

check_who_removes_it_before_undoing_the_set_up_is_told_so() {
  fails grep 'setup-postfix --undo' <(apt_offline remove bloomgate-milter 2>&1)
  apt_offline install ./new/*.deb
  echo '# Bloomgate: begin.' >>/etc/postfix/main.cf
  apt_offline remove bloomgate-milter 2>&1 | grep 'main.cf still names Bloomgate.* run setup-postfix --undo'
  apt_offline install ./new/*.deb
}

check_after_removal_nothing_runs_and_the_configuration_stays() {
  apt_offline remove bloomgate bloomgate-milter
  fails systemctl is-active -q bloomgate-milter
  [[ ! -e /usr/sbin/bloomgate-milter && ! -e /lib/systemd/system/bloomgate-milter.service ]]
  [[ ! -e /run/bloomgate ]]
  grep -qx 'own-domains = edited.example' "$conf"
  [[ -e /var/lib/bloomgate/whitelist.bloom ]]
}

check_after_purging_only_the_whitelist_stays() {
  apt_offline purge bloomgate bloomgate-milter >purged
  grep 'your data stays in /var/lib/bloomgate: whitelist.bloom$' purged
  [[ ! -e /etc/bloomgate ]]
  [[ -z $(find /etc/systemd /lib/systemd /usr/lib/systemd /var/lib/systemd -name '*bloomgate*') ]]
  [[ $(ls -A /var/lib/bloomgate) == whitelist.bloom ]]
  fails dpkg-query -s bloomgate-milter
}

check_purged_without_a_whitelist_its_folder_goes_too() {
  rm -r /var/lib/bloomgate
  apt_offline install ./new/*.deb
  is ActiveState active
  apt_offline purge bloomgate bloomgate-milter
  [[ ! -e /var/lib/bloomgate ]]
}

run_checks
