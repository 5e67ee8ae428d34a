"""`bloomgate import`: SpamAssassin, rspamd and amavis decide signed messages by their own lists, Debian's among these, and the daemon
decides the same messages by the list that `import` has made of them. Both welcome the same messages, apart from those that the
list names. And the page config/guide/import.md, line by line."""

import json
import os
import re
import shutil
import subprocess
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from email.utils import formatdate
from pathlib import Path

import posted_message
import pytest
from conftest import first_of
from mail_world import content
from private_mail.daemon import Daemon, DaemonConfig
from private_mail.faulty_name_server import FaultyNameServer
from private_mail.filter import REPOSITORY, build_filter, built
from private_mail.processes import PATIENCE_SECONDS, temporary_folder
from private_mail.rspamd import PlainRspamd
from private_mail.signing import SigningKey, new_private_key
from private_mail.spamassassin import Spamd

CLIENT = "192.0.2.1"  # may send for all domains, by SPF
OTHER_CLIENT = "192.0.2.2"
KEY = new_private_key()  # of all domains


@dataclass(frozen=True)
class Mail:
    """A message that the sender's own domain has signed comes from a client that may send for it; others do not."""

    sender: str
    signer: str  # a domain; empty for none

    @property
    def host(self):
        return self.sender.rpartition("@")[2]

    @property
    def client(self):
        return CLIENT if self.signer == self.host else OTHER_CLIENT

    @property
    def raw(self):
        path = (f"Return-Path: <{self.sender}>\r\nReceived: from mail.{self.host} (mail.{self.host} [{self.client}])\r\n"
                f"\tby mx.example.net (Postfix) with ESMTP id 1; {formatdate()}\r\n").encode()
        text = content(self.sender)
        return path + (SigningKey(self.signer, private=KEY).sign(text) if self.signer else text)


def mail(sender):
    return Mail(sender, sender.rpartition("@")[2])


class ListedSpamd(Spamd):
    """With a list of ours in its configuration."""

    def __init__(self, folder, names, own=""):
        super().__init__(folder, ("127.0.0.1", names.port))
        self.own = own

    def prepare(self):
        super().prepare()
        (self.folder / "site/zz_own.cf").write_text(f"trusted_networks 127/8\ninternal_networks 127/8\n{self.own}")

    WELCOME = re.compile(r"\bUSER_IN_(?:DEF_)?(?:DKIM_|SPF_)?(?:WL|WELCOMELIST|WHITELIST)\b")

    def welcomes(self, message):
        host, port = self.address
        done = subprocess.run(["spamc", "-y", "-x", "-d", host, "-p", str(port)], input=message.raw, capture_output=True,
                              check=True, timeout=PATIENCE_SECONDS)
        return bool(self.WELCOME.search(done.stdout.decode()))


class ListedRspamd(PlainRspamd):
    """maps: name of a map of its module whitelist -> the file."""

    def __init__(self, folder, names, maps):
        super().__init__(folder)
        self.names = names
        self.maps = maps

    def prepare(self):
        super().prepare()
        options = self.folder / "override.d/options.inc"
        text = re.sub(r"127\.0\.0\.1:\d+", f"127.0.0.1:{self.names.port}", options.read_text(), count=1)
        # There is a name server here, and where the machine has other work its answer takes a while.
        options.write_text(re.sub(r"timeout = [\d.]+s", "timeout = 10s", text, count=1))
        (self.folder / "local.d/maps.d").mkdir()
        for name, path in self.maps.items():
            shutil.copy(path, self.folder / f"local.d/maps.d/{name}.inc.local")

    def _write_suffixes(self):
        shutil.copy("/usr/share/publicsuffix/effective_tld_names.dat", self.folder / "suffixes")

    def welcomes(self, message):
        request = urllib.request.Request("http://{}:{}/checkv2".format(*self.address), message.raw, {
            "From": message.sender, "Rcpt": "user@example.net", "IP": message.client, "Helo": f"mail.{message.host}"})
        with urllib.request.urlopen(request, timeout=PATIENCE_SECONDS) as answer:
            return any(symbol.startswith("WHITELIST_") for symbol in json.load(answer)["symbols"])


def imported(folder, kind, *lists):
    """The list, and what `import` says of it."""
    output = folder / "list"
    done = subprocess.run([built("filter/cli/bloomgate"), "import", "--from", kind, "--json", "-o", output, *lists],
                          capture_output=True, text=True, check=True)
    return output, json.loads(done.stdout)


def zone_of(senders):
    """Each domain has our key, lets CLIENT send, and wants all mail rejected that neither shows."""
    records = {}
    for domain in {sender.rpartition("@")[2] for sender in senders}:
        key = SigningKey(domain, private=KEY)
        records |= {key.record_name: key.record, domain: f"v=spf1 ip4:{CLIENT} -all", f"_dmarc.{domain}": "v=DMARC1; p=reject"}
    return records


class World:
    def __init__(self, stack, kind, lists, senders, checker):
        """checker(folder, names): the program that the lists are of."""
        self.folder = stack.enter_context(temporary_folder("imported"))
        self.folder.chmod(0o777)
        names = stack.enter_context(FaultyNameServer(self.folder / "names", zone_of(senders)))
        self.list, self.report = imported(self.folder, kind, *lists)
        whitelist = self.folder / "whitelist.bloom"
        build_filter(whitelist, self.list, "--seed", "1", "--bits-per-entry", "32")
        self.socket = self.folder / "lookup.sock"
        settings = {"authentication": "required", "dns-servers": names.option, "lookup-socket": self.socket, "lookup-messages": "4"}
        self.daemon = stack.enter_context(Daemon(self.folder / "daemon", DaemonConfig(whitelist, settings=settings)))
        self.checker = stack.enter_context(checker(self.folder / "checker", names))

    def decisions(self, messages):
        """message -> (the other program welcomes it, the daemon delivers it)"""
        def both(message):
            return (self.checker.welcomes(message),
                    posted_message.is_delivered(self.socket, message.raw, sender=message.sender))
        with ThreadPoolExecutor(2) as workers:
            return dict(zip(messages, workers.map(both, messages)))

    def logs(self):
        return self.checker.log() + self.daemon.log()


def assert_it_is_what_the_list_says(world, messages, more, less):
    """more: senders that the list says it lists as well. less: senders of lines that it says are left out."""
    decisions = world.decisions(list(messages))
    welcome = {message for message, (is_welcome, _) in decisions.items() if is_welcome}
    delivered = {message for message, (_, is_delivered) in decisions.items() if is_delivered}
    assert {message.sender for message in delivered - welcome} == more
    assert {message.sender for message in welcome - delivered} == less
    return welcome & delivered


def every(step, senders):
    return sorted(senders)[::step]


def variants(domain):
    """The domain, one below it and one beside it."""
    return domain, f"news.{domain}", f"not{domain}"


# Each n-th of the patterns; at least as many messages as that.
@pytest.mark.parametrize("step, at_least", first_of([(480, 5), (2, 1400)]))
@pytest.mark.may_take(1800)
def test_debians_lists_for_spamassassin(step, at_least):
    lists = sorted(Path("/usr/share/spamassassin").glob("60_welcomelist_*.cf"))
    patterns = set(re.findall(r"(?m)^\s*def_welcomelist_\w+\s+(\S+)", "".join(path.read_text() for path in lists)))
    chosen = every(step, patterns)
    senders = {f"{local_part}@{place}" for local_part, domain in map(parts_of, chosen) for place in variants(domain)}
    assert len(senders) >= at_least
    with ExitStack() as stack:
        world = World(stack, "spamassassin", lists, senders, ListedSpamd)
        text = world.list.read_text()
        also = set(re.findall(r"\*@\*\.(\S+): this also lists the domain itself", text)) - set(re.findall(r"(?m)^@([^.\s]\S*)$", text))
        left_out = {"@".join(parts_of(each["item"].split()[0])) for each in world.report["left_out"]}
        agreed = assert_it_is_what_the_list_says(world, map(mail, senders), {f"joe@{domain}" for domain in also} & senders, left_out & senders)
        assert len(agreed) >= at_least // 3
        sender = min(message.sender for message in agreed)
        assert world.decisions([Mail(sender, "other.example"), Mail(sender, "")]) == {
            Mail(sender, "other.example"): (False, False), Mail(sender, ""): (False, False)}


def parts_of(pattern):
    """SpamAssassin's `*@*.example.org` -> a local part that it may mean, and the domain, without what stands for others."""
    local_part, _, domain = pattern.rpartition("@")
    return local_part.replace("*", "joe"), domain.removeprefix("*").removeprefix(".")


@pytest.mark.all_only  # it takes rspamd 20 s to start with them
@pytest.mark.parametrize("step, at_least", [(120, 5), (1, 700)])
@pytest.mark.may_take(1800)
def test_debians_maps_for_rspamd(step, at_least):
    maps = {name: Path(f"/etc/rspamd/maps.d/{name}.inc") for name in ("dmarc_whitelist", "spf_dkim_whitelist")}
    domains = set(re.findall(r"(?m)^([^\s#]+)", "".join(path.read_text() for path in maps.values())))
    senders = {f"joe@{place}" for domain in every(step, domains) for place in variants(domain)}
    assert len(senders) >= at_least
    with ExitStack() as stack:
        world = World(stack, "rspamd", maps.values(), senders, lambda folder, names: ListedRspamd(folder, names, maps))
        # Names that only one of rspamd's rules looks up, in the map of another one.
        by_dmarc = re.findall(r"(\S+): rspamd counts this name only if DMARC passes", world.list.read_text())
        more = {f"joe@{name}" for name in by_dmarc} - {f"joe@{name}" for name in maps["dmarc_whitelist"].read_text().split()}
        agreed = assert_it_is_what_the_list_says(world, map(mail, senders), more & senders, set())
        assert len(agreed) >= at_least // 3
        sender = min(message.sender for message in agreed)
        assert not any(world.decisions([Mail(sender, "other.example")])[Mail(sender, "other.example")])


OWN = """\
welcomelist_from joe@plain.example *@plain-all.example
welcomelist_auth *@auth.example
welcomelist_from_spf *@spf.example
welcomelist_from_dkim *@customer.example esp.example
welcomelist_from_dkim *@dkim.example
welcomelist_auth *@blocked.example eve@taken.example
unwelcomelist_auth eve@taken.example
blocklist_from eve@blocked.example
"""


def test_each_kind_of_line_of_a_sites_own_list():
    listed = [*(mail(f"joe@{name}.example") for name in ("plain", "plain-all", "auth", "spf", "dkim")),
              Mail("joe@customer.example", "esp.example")]
    blocked = [mail("eve@blocked.example"), mail("joe@blocked.example")]
    not_proven = [Mail("joe@plain.example", "other.example"), Mail("joe@plain.example", "")]
    others = [*map(mail, ("joe@customer.example", "joe@other.example", "eve@plain.example", "eve@taken.example")),
              Mail("joe@dkim.example", "esp.example"), Mail("joe@auth.example", ""), Mail("joe@customer.example", "")]
    with ExitStack() as stack:
        own = stack.enter_context(temporary_folder("own-list")) / "local.cf"
        own.write_text(OWN)
        senders = {message.sender for message in [*listed, *blocked, *others]} | {"joe@esp.example"}
        world = World(stack, "spamassassin", [own], senders, lambda folder, names: ListedSpamd(folder, names, OWN))
        assert world.decisions([*listed, *blocked, *not_proven, *others]) == (
            dict.fromkeys(listed, (True, True))
            # There, a block and a welcome of one sender are added up. Here, it is not listed, and neither is its domain.
            | dict.fromkeys(blocked, (True, False))
            # `welcomelist_from` asks for no proof. The daemon always does.
            | dict.fromkeys(not_proven, (True, False))
            | dict.fromkeys(others, (False, False)))


AMAVIS = """\
use strict;
$enable_dkim_verification = DKIM;
%whitelist_sender = ('old.example' => 1, 'Capitals.example' => 1, '@at.example' => 1, 'joe+tag@tagged.example' => 1);
@whitelist_sender_maps = (\\%whitelist_sender, ['joe@example.org', '!eve@above.example', '.above.example', 'plain.example',
  '@acl.example', '!!twice.example', 'some.example'], {'hash.example' => 1, 'no.example' => 0}, read_hash('FOLDER/more'),
  new_RE(qr'^x@expression\\.example$'i));
@blacklist_sender_maps = (['mallory@plain.example', 'joe@tagged.example'], {'eve@hash.example' => "1\n"});
$per_recip_blacklist_sender_lookup_tables = {'ann@ours.example' => ['joe@some.example']};
$per_recip_whitelist_sender_lookup_tables = {'.' => ['joe@recipient.example'], 'ours.example' => ['x@recipient.example']};
@score_sender_maps = ({'ann@ours.example' => [{'joe@personal.example' => -3}], '.' => [new_RE([qr'^bulk@'i => -5.0]),
  {'soft.example' => -3.0, 'little.example' => -0.1, 'bad.example' => 2, '.below.example' => '-1 or so'}]});
@author_to_policy_bank_maps = ({'bank.example' => 'SPARED', 'shop.example/@esp.example' => 'OTHER, SPARED', '.files.example' => 'FILES',
  '.except.example' => 'SPARED', 'eve@except.example' => 'FILES', 'order.example' => 'SPARED,STRICT'}, ['listed.example']);
$policy_bank{'SPARED'} = $policy_bank{'AUTHOR_APPROVED'} = {bypass_spam_checks_maps => [1]};
$policy_bank{'STRICT'} = {bypass_spam_checks_maps => [0]};
$policy_bank{'FILES'} = {bypass_banned_checks_maps => [1], spam_lovers_maps => [1]};
1;
"""
# amavis' own look-ups of each sender, for two recipients: whether both get that mail as welcome.
ASK_AMAVIS = """\
use Amavis::Boot; use Amavis::Conf; use Amavis::Util qw(untaint); use Amavis::Lookup qw(lookup2);
BEGIN { Amavis::Conf->import(map { @$_ } values %Amavis::Conf::EXPORT_TAGS) }
Amavis::Conf::include_config_files(untaint(shift));
sub welcome {
  my ($sender, $recipient) = @_;
  my %own = map {
    no strict 'refs';
    my $tables = ${"Amavis::Conf::per_recip_${_}list_sender_lookup_tables"};
    my $table = $tables && lookup2(0, $recipient, [$tables]);
    ($_ => $table && lookup2(0, $sender, [$table]))
  } qw(white black);
  return 0 if $own{black} || lookup2(0, $sender, \\@Amavis::Conf::blacklist_sender_maps);
  my ($all) = lookup2(1, $recipient, \\@Amavis::Conf::score_sender_maps);
  my $points = 0;
  $points += lookup2(0, $sender, $_) // 0 for @{$all // []};
  return 0 if $points > 0;
  my $spared = 0;
  if ($enable_dkim_verification) {
    for my $name (split /\\s*,\\s*/, lookup2(0, $sender, \\@Amavis::Conf::author_to_policy_bank_maps) // '') {
      my $bank = $policy_bank{$name eq '1' ? 'AUTHOR_APPROVED' : $name} // {};
      $spared = $bank->{bypass_spam_checks_maps}[0] if $bank->{bypass_spam_checks_maps};
    }
  }
  return $own{white} || lookup2(0, $sender, \\@Amavis::Conf::whitelist_sender_maps) || $points <= -1 || $spared ? 1 : 0;
}
for my $sender (@ARGV) { print((welcome($sender, 'ann@ours.example') && welcome($sender, 'bob@ours.example')) ? 1 : 0, "\\n") }
"""
AMAVIS_DOMAINS = ("above", "plain", "hash", "no", "expression", "personal", "soft", "bad", "below", "file", "bank", "files", "old",
                  "capitals", "at", "tagged", "acl", "twice", "some", "recipient", "little", "except", "order", "listed")


def amavis_lists(configuration, dump):
    dump.write_text(subprocess.run([REPOSITORY / "scripts/amavis-lists", configuration], capture_output=True, text=True,
                                   check=True).stdout)
    return dump


@pytest.mark.parametrize("dkim", [0, 1])
def test_the_lists_in_amavis_configuration(tmp_path, dkim):
    configuration = tmp_path / "50-user"
    configuration.write_text(AMAVIS.replace("FOLDER", str(tmp_path)).replace("DKIM", str(dkim)))
    (tmp_path / "more").write_text("file@example.com\n.file.example 1  # a comment\n")
    senders = [f"{name}@{place}{domain}.example" for domain in AMAVIS_DOMAINS for name in ("joe", "eve") for place in ("", "news.")]
    senders += ["mallory@plain.example", "joe@example.org", "eve@example.org", "file@example.com", "x@expression.example",
                "joe+tag@tagged.example", "bulk@soft.example", "x@recipient.example"]
    done = subprocess.run(["perl", "-T", "-e", ASK_AMAVIS, configuration, *senders], capture_output=True, text=True, check=True)
    welcome = {sender for sender, said in zip(senders, done.stdout.split()) if said == "1"}
    output, report = imported(tmp_path, "amavis", amavis_lists(configuration, tmp_path / "dump"))
    build_filter(tmp_path / "filter", output, "--seed", "1", "--bits-per-entry", "32")
    done = subprocess.run([built("filter/cli/bloomgate"), "query", "--json", tmp_path / "filter", *senders], capture_output=True,
                          text=True)
    listed = {sender for sender, line in zip(senders, done.stdout.splitlines()) if json.loads(line)["listed"]}
    assert len(listed) > 10
    assert not listed - welcome
    # For each of them the list has a reason: a sender of the domain is blocked, or is welcome to one recipient only.
    lost = {"eve@news.above.example", "joe@above.example", "joe@news.above.example", "joe@hash.example", "joe@plain.example",
            "eve@plain.example", "eve@some.example", "joe@some.example", "joe+tag@tagged.example", "x@expression.example",
            "x@recipient.example"}
    if dkim:
        lost |= {"joe@except.example", "joe@news.except.example", "eve@news.except.example"}
    assert welcome - listed == lost
    left_out = {each["item"].split()[1] for each in report["left_out"]}
    assert left_out >= {".above.example", "hash.example", "plain.example", "some.example", "joe+tag@tagged.example", "a",
                        "x@recipient.example", *([".except.example"] if dkim else [])}
    assert ("@shop.example signed-by esp.example" in output.read_text().splitlines()) == bool(dkim)


def test_amavis_lists_fails_where_the_configuration_does(tmp_path):
    for number, text in enumerate(["read_hash('/missing/file'); 1;", "1 / 0;", "syntax error here", "$policy_bank{'A'} = [1];\n"
                                   "@author_to_policy_bank_maps = ({'a.example' => 'A'}); $enable_dkim_verification = 1; 1;"]):
        configuration = tmp_path / str(number)
        configuration.write_text(text)
        done = subprocess.run([REPOSITORY / "scripts/amavis-lists", configuration], capture_output=True, text=True)
        assert ("\tend\t" in done.stdout) == (done.returncode == 0), text


PAGE = (REPOSITORY / "config/guide/import.md").read_text()
# What the page's own files are here: a command of the page -> the file that it reads, and its text.
FILES_OF_THE_PAGE = {
    "/etc/postfix/sender_access": "joe@example.org OK\nexample.net OK\neve@example.net\n  REJECT\n",
    "/etc/exim4/local_sender_whitelist": "joe@example.org\n*@example.com\n",
    "tenant.csv": '"Value","Action","ExpirationDate"\n"joe@example.org","Allow",""\n"example.net","Allow",""\n"eve@example.net","Block",""\n',
}


def lines_of_the_page(section):
    text = re.search(rf"(?ms)^## {section}$(.*?)(?=^## )", PAGE).group(1)
    typed = "\n".join(line[4:] for line in text.splitlines() if line.startswith("    "))
    return typed.replace("&&\n", "&&").splitlines()


class Typing:
    """Types lines of the page in a folder of its own. Programs that are not here are stood in for by functions of the shell."""

    def __init__(self, folder):
        self.folder = folder
        self.environment = {**os.environ, "PATH": f"{built('filter/cli/bloomgate').parent}:{os.environ['PATH']}"}

    def type(self, line, stand_in="less() { cat \"$@\"; }"):
        line = line.replace("/var/lib/bloomgate/", f"{self.folder}/").replace("/usr/share/bloomgate/scripts", f"{REPOSITORY}/scripts")
        for name, text in FILES_OF_THE_PAGE.items():
            if name in line:
                (self.folder / "read").write_text(text)
                line = line.replace(name, "read")
        done = subprocess.run(["bash", "-c", f"set -eo pipefail\n{stand_in}\n{line}"], cwd=self.folder, env=self.environment,
                              capture_output=True, text=True, timeout=PATIENCE_SECONDS)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout + done.stderr


@pytest.mark.parametrize("program, at_least, sender", [
    ("SpamAssassin", 900, "joe@news.amazon.com"), ("rspamd", 250, "joe@news.paypal.com")])
def test_the_page_makes_a_whitelist_of_what_debian_ships(tmp_path, program, at_least, sender):
    shell = Typing(tmp_path)
    make, read, build, set_up, *_ = lines_of_the_page(program)
    name = f"{program.lower()}.txt"
    assert read == f"less {name}" and build.endswith(f" {name}") and set_up == "setup-postfix --apply"  # which test_first_day.py runs
    assert int(re.search(r"entries +([\d,]+)", shell.type(make)).group(1).replace(",", "")) >= at_least
    assert "# From " in shell.type(read)
    shell.type(build)
    assert "listed" in shell.type(f"bloomgate query whitelist.bloom {sender}")


def test_each_other_line_of_the_page_makes_a_list(tmp_path):
    shell = Typing(tmp_path)
    redis = [line for line in lines_of_the_page("rspamd") if line.startswith("redis-cli")]
    others = [*redis, *lines_of_the_page("amavis"), *lines_of_the_page("Postfix, Exim, a directory, Microsoft 365")]
    assert len(others) == 6
    # What the two programs print for these questions, and amavis' lists with an entry, which Debian's have not.
    stand_in = ("redis-cli() { test \"$*\" = '--raw HKEYS good_senders' && printf 'joe@example.org\\nexample.com\\n'; }\n"
                "ldapsearch() { test \"${*: -2}\" = '(mail=*) mail' && printf 'dn: cn=Joe,dc=example,dc=org\\nmail: joe@example.org\\n\\n'; }")
    (tmp_path / "50-user").write_text("@whitelist_sender_maps = (['joe@example.org']); 1;\n")
    for line in others:
        shell.type(line.replace("amavis-lists >", "amavis-lists 50-user >"), stand_in)
        made = tmp_path / re.search(r"--output (\S+)", line).group(1)
        entries = [entry for entry in made.read_text().splitlines() if not entry.startswith("#")]
        assert "joe@example.org" in entries and "@example.net" not in entries, line
        made.unlink()
