#include "config/daemon_options.hpp"

#include "tests/config/written_config.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/errors.hpp"
#include "tests/support/temporary_folder.hpp"

namespace bloomgate::test {
namespace {

using Words = std::vector<std::string>;
using Whitelists = std::vector<WhitelistSource>;

TEST_CASE("without any setting every option has the default of the table") {
  const DaemonOptions options = read_daemon_command({"--config", "/dev/null"}).options;
  CHECK(to_string(options.socket) == "unix:/run/bloomgate/milter.sock");
  CHECK(options.socket_mode == 0660);
  CHECK(options.socket_group.empty());
  CHECK(options.max_connections == 2000);
  CHECK(options.connection_timeout == std::chrono::seconds(7200));
  CHECK(options.whitelists == Whitelists{{"whitelist", "/var/lib/bloomgate/whitelist.bloom"}});
  CHECK(options.confirm_timeout == std::chrono::seconds(2));
  CHECK_FALSE(options.allow_missing_whitelist);
  CHECK(options.revoked.empty());
  CHECK(options.extra.empty());
  CHECK(options.opt_out.empty());
  CHECK(options.recipient_delimiter.empty());
  CHECK(options.identity == IdentityRule::either);
  CHECK(options.authentication == AuthenticationRule::required);
  CHECK(options.alignment == Alignment::parent);
  CHECK(options.spf_proves == SpfProves::domain);
  CHECK(options.trusted_authserv_ids.empty());
  CHECK(options.trusted_fields == 0);
  CHECK(options.dmarc_fail_veto);
  CHECK_FALSE(options.trust_arc);
  CHECK(options.own_domains.empty());
  CHECK(options.trusted_forwarders.empty());
  CHECK(options.undo_batv);
  CHECK(options.exempt_networks.empty());
  CHECK(options.exempt_authenticated);
  CHECK(options.exempt_daemons.empty());
  CHECK(options.exempt_action == ExemptAction::none);
  CHECK(options.deep_check == DeepCheckOptions{});
  CHECK(options.mode == Mode::enforce);
  CHECK(options.host_name.empty());
  CHECK_FALSE(options.lock_memory);
  CHECK(options.recheck_bytes_per_hour == std::uint64_t{1} << 30);
  CHECK(options.log_target == LogTarget::syslog);
  CHECK(options.log_level == LogLevel::info);
}

TEST_CASE("every option can be set in the file, with comments, spaces and blank lines around it") {
  const Config config(
      "# a comment\n\n"
      "socket = inet:8891@127.0.0.1   # behind a value\n"
      "socket-mode=0600\n"
      "  socket-group  =  mail  \r\n"
      "max-connections = 500\n"
      "connection-timeout = 60\n"
      "whitelist = /tmp/with space.bloom\n"
      "confirm = /tmp/with space.store\n"
      "confirm-timeout = 5\n"
      "allow-missing-whitelist = yes\n"
      "revoked = /etc/bloomgate/revoked.txt\n"
      "extra = /etc/bloomgate/extra.txt\n"
      "opt-out = /etc/bloomgate/opt-out.txt\n"
      "recipient-delimiter = +-\n"
      "identity = header-from\n"
      "authentication = preferred\n"
      "alignment = strict\n"
      "spf-proves = no\n"
      "trusted-authserv-id = mx.example.org\n"
      "dmarc-fail-veto = no\n"
      "trust-arc = yes\n"
      "own-domains = example.org, .m\xc3\xbcller.example\n"
      "trusted-forwarders = forwarder.example\n"
      "undo-batv = no\n"
      "exempt-networks = 192.0.2.0/24 2001:db8::/32,127.0.0.1\n"
      "exempt-authenticated = no\n"
      "exempt-daemons = ORIGINATING, MSA\n"
      "exempt-action = deliver\n"
      "learn = outbound\n"
      "learn-file = /srv/learned.db\n"
      "learn-keep = 30\n"
      "learn-max-recipients = 5\n"
      "learn-rate = 7\n"
      "learn-from-exempt = yes\n"
      "learn-exempt-rate = 8\n"
      "burst-limit = 100\n"
      "burst-recipients = 40\n"
      "burst-observe = 0d\nburst-file = /srv/habits\n"
      "suspend = no\n"
      "suspend-file = /srv/suspended\n"
      "deep-check = rspamd:http://[::1]:11333/\n"
      "deep-check = spamd:unix:/run/spamd.sock\n"
      "deep-check-timeout = 7\n"
      "deep-check-connections = 3\n"
      "deep-check-max-size = 512K\n"
      "deep-check-memory = 1000\n"
      "deep-check-folder = /srv/tmp\n"
      "deep-check-spam = quarantine\n"
      "deep-check-reject = tempfail\n"
      "deep-check-soft-reject = tag\n"
      "deep-check-failure = tag\n"
      "deep-check-sample = 2.5%\n"
      "mode = observe\n"
      "mark-tells-why = yes\n"
      "host-name = mx.example.org\n"
      "lock-memory = yes\n"
      "recheck-rate = 0\n"
      "log-target = journal\n"
      "log-level = debug\n"
      "lookup-socket = /run/bloomgate/lookup.sock\n"
      "lookup-learned-over-tcp = yes\n"
      "lookup-messages = 8\n"
      "lookup-token = /etc/bloomgate/token\n"
      "metrics = 127.0.0.1:9812");  // and no line end
  const DaemonOptions options = config.read().options;
  CHECK(to_string(options.socket) == "inet:8891@127.0.0.1");
  CHECK(options.socket_mode == 0600);
  CHECK(options.socket_group == "mail");
  CHECK(options.max_connections == 500);
  CHECK(options.connection_timeout == std::chrono::seconds(60));
  CHECK(options.whitelists == Whitelists{{"with_space", "/tmp/with space.bloom", "/tmp/with space.store"}});
  CHECK(options.confirm_timeout == std::chrono::seconds(5));
  CHECK(options.allow_missing_whitelist);
  CHECK(options.learn == DaemonOptions::Learn::outbound);
  CHECK(options.learn_file == "/srv/learned.db");
  CHECK(options.learn_keep == std::chrono::days(30));
  CHECK(options.learn_max_recipients == 5);
  CHECK(options.learn_rate == 7);
  CHECK(options.burst_limit == 100);
  CHECK(options.burst_recipients == 40);
  CHECK(options.burst_observe == std::chrono::days(0));
  CHECK(options.burst_file == "/srv/habits");
  CHECK_FALSE(options.suspend);
  CHECK(options.suspend_file == "/srv/suspended");
  CHECK(options.learn_from_exempt);
  CHECK(options.learn_exempt_rate == 8);
  CHECK(options.revoked == "/etc/bloomgate/revoked.txt");
  CHECK(options.extra == "/etc/bloomgate/extra.txt");
  CHECK(options.opt_out == "/etc/bloomgate/opt-out.txt");
  CHECK(options.recipient_delimiter == "+-");
  CHECK(options.identity == IdentityRule::header_from);
  CHECK(options.authentication == AuthenticationRule::preferred);
  CHECK(options.alignment == Alignment::strict);
  CHECK(options.spf_proves == SpfProves::no);
  CHECK(options.trusted_authserv_ids == Words{"mx.example.org"});
  CHECK_FALSE(options.dmarc_fail_veto);
  CHECK(options.trust_arc);
  CHECK(options.own_domains == Words{"example.org", ".m\xc3\xbcller.example"});
  CHECK(options.trusted_forwarders == Words{"forwarder.example"});
  CHECK_FALSE(options.undo_batv);
  CHECK(options.exempt_networks == std::vector{*parse_ip_network("192.0.2.0/24"), *parse_ip_network("2001:db8::/32"),
                                               *parse_ip_network("127.0.0.1")});
  CHECK_FALSE(options.exempt_authenticated);
  CHECK(options.exempt_daemons == Words{"ORIGINATING", "MSA"});
  CHECK(options.exempt_action == ExemptAction::deliver);
  CHECK(
      options.deep_check ==
      DeepCheckOptions{.servers = {{.kind = DeepCheckServer::Kind::rspamd, .url = "http://[::1]:11333", .address = {}},
                                   {.kind = DeepCheckServer::Kind::spamd,
                                    .url = "",
                                    .address = *parse_socket_address("unix:/run/spamd.sock")}},
                       .timeout = std::chrono::seconds(7),
                       .connections = 3,
                       .max_bytes = 512 << 10,
                       .memory_bytes = 1000,
                       .temporary_folder = "/srv/tmp",
                       .on_spam = SpamAction::quarantine,
                       .on_reject = SpamAction::tempfail,
                       .on_soft_reject = SpamAction::tag,
                       .on_failure = CheckFailureAction::tag,
                       .sample_share = 0.025});
  CHECK(options.mode == Mode::observe);
  CHECK(options.mark_tells_why);
  CHECK(options.host_name == "mx.example.org");
  CHECK(options.lock_memory);
  CHECK(options.recheck_bytes_per_hour == 0);
  CHECK(options.log_target == LogTarget::journal);
  CHECK(options.log_level == LogLevel::debug);
  CHECK(options.metrics == parse_socket_address("inet:9812@127.0.0.1"));
  CHECK(options.lookup_socket == parse_socket_address("unix:/run/bloomgate/lookup.sock"));
  CHECK(options.lookup_learned_over_tcp);
  CHECK(options.lookup_messages == 8);
  CHECK(options.lookup_token == "/etc/bloomgate/token");
}

TEST_CASE("the command line overrides the file, option by option") {
  const Config config("mode = observe\nlog-level = error\n");
  const DaemonOptions options = config.read({"--mode=enforce", "--log-target", "stderr"}).options;
  CHECK(options.mode == Mode::enforce);
  CHECK(options.log_target == LogTarget::standard_error);
  CHECK(options.log_level == LogLevel::error);
}

TEST_CASE("lists may be given in one line, in several, or both, and the command line replaces all of them") {
  const Config config(
      "exempt-daemons = a,b\n"
      "exempt-daemons =  , c\td  ,\n"
      "exempt-daemons =\n"
      "own-domains = one.example\n");
  const DaemonOptions options = config.read({"--own-domains", "two.example", "--own-domains=three.example"}).options;
  CHECK(options.exempt_daemons == Words{"a", "b", "c", "d"});
  CHECK(options.own_domains == Words{"two.example", "three.example"});
  CHECK(config.read({"--own-domains", ""}).options.own_domains.empty());
}

TEST_CASE("each whitelist has its given name, or else that of its file") {
  struct Case {
    std::string_view line;
    WhitelistSource want;
  };
  const Case cases[] = {
      {"/srv/customers.bloom", {"customers", "/srv/customers.bloom"}},
      {"partners=/srv/2026.bloom", {"partners", "/srv/2026.bloom"}},
      {"partners=/with = sign.bloom", {"partners", "/with = sign.bloom"}},
      {"/srv/a=b.bloom", {"a_b", "/srv/a=b.bloom"}},
      {"/./a=b.bloom", {"a_b", "/./a=b.bloom"}},
      {"/srv/2026.11.bloom", {"2026.11", "/srv/2026.11.bloom"}},
      {"/srv/plain", {"plain", "/srv/plain"}},
      {"/srv/.hidden", {".hidden", "/srv/.hidden"}},
      {"/srv/m\xc3\xbcller; x.bloom", {"m__ller__x", "/srv/m\xc3\xbcller; x.bloom"}},
      {"/srv/", {"whitelist", "/srv/"}},
  };
  for (const Case& c : cases) {
    INFO(c.line);
    CHECK(Config("whitelist = " + std::string(c.line) + "\n").read().options.whitelists == Whitelists{c.want});
  }
  CHECK(Config("whitelist = /a.bloom\nwhitelist = b=/a.bloom\n").read().options.whitelists ==
        Whitelists{{"a", "/a.bloom"}, {"b", "/a.bloom"}});
}

TEST_CASE("each store belongs to the whitelist that it names, or to the only one") {
  const auto whitelists = [](const std::string& text) { return Config(text).read().options.whitelists; };
  CHECK(whitelists("confirm = /a=b.store\nwhitelist = /a.bloom\n") == Whitelists{{"a", "/a.bloom", "/a=b.store"}});
  CHECK(whitelists("confirm = a=/a.store\nwhitelist = /a.bloom\n") == Whitelists{{"a", "/a.bloom", "/a.store"}});
  CHECK(whitelists("whitelist = /a.bloom\nwhitelist = b=/c.bloom\nconfirm = b=/b.store\n") ==
        Whitelists{{"a", "/a.bloom"}, {"b", "/c.bloom", "/b.store"}});
  CHECK(whitelists("whitelist = /a.bloom\nwhitelist = /b.bloom\nconfirm = b=/b.store\nconfirm = a=/a.store\n") ==
        Whitelists{{"a", "/a.bloom", "/a.store"}, {"b", "/b.bloom", "/b.store"}});
  CHECK(whitelists("whitelist = /a.bloom\nconfirm =\n") == Whitelists{{"a", "/a.bloom"}});
}

TEST_CASE("options of a message to explain come from the command line, and are refused without --explain") {
  const ExplainOptions nothing = read_daemon_command({"--config", "/dev/null", "--explain"}).explain;
  CHECK_FALSE(nothing.from);
  CHECK(nothing.header_from.empty());
  CHECK(nothing.authentication_results.empty());
  CHECK_FALSE(nothing.json);
  const DaemonCommand command = read_daemon_command(
      {"--config", "/dev/null", "--explain", "--from", "<>", "--header-from", "a@b.example", "--header-from",
       "c@d.example", "--authentication-results=mx; spf=pass", "--client", "[192.0.2.1]", "--auth-login", "joe",
       "--daemon-name", "MSA", "--mta-name", "mx.example.org", "--json"});
  CHECK(command.action == DaemonCommand::Action::explain);
  CHECK(command.explain.from == "<>");
  CHECK(command.explain.header_from == Words{"a@b.example", "c@d.example"});
  CHECK(command.explain.authentication_results == Words{"mx; spf=pass"});
  CHECK(command.explain.client == parse_ip_address("192.0.2.1"));
  CHECK(command.explain.auth_login == "joe");
  CHECK(command.explain.daemon_name == "MSA");
  CHECK(command.explain.mta_name == "mx.example.org");
  CHECK(command.explain.json);
  const BloomgateError error =
      error_of([] { read_daemon_command({"--config", "/dev/null", "--from", "a@b.example"}); });
  CHECK_THAT(error.what(), StartsWith("command line: --from: ") && Contains("the command explain"));
}

TEST_CASE("actions may be written as commands, with their options after them") {
  using Action = DaemonCommand::Action;
  CHECK(read_daemon_command({"check-config", "--config", "/dev/null"}).action == Action::check_config);
  CHECK(read_daemon_command({"doctor", "--config", "/dev/null", "--send"}).action == Action::doctor);
  CHECK(read_daemon_command({"explain", "--config", "/dev/null", "--from", "joe@example.org"}).action ==
        Action::explain);
  const DaemonCommand reload = read_daemon_command({"reload", "--config", "/dev/null"});
  CHECK(reload.action == Action::reload);
  CHECK(reload.reload_process == 0);
  CHECK(read_daemon_command({"reload", "12", "--config", "/dev/null"}).reload_process == 12);
  CHECK(read_daemon_command({"help"}).action == Action::help);
  CHECK(read_daemon_command({"version"}).action == Action::version);
  CHECK(read_daemon_command({"-V"}).action == Action::version);
  CHECK(read_daemon_command({"-h"}).action == Action::help);
  CHECK(read_daemon_command({"--config", "/dev/null", "doctor"}).action == Action::doctor);
  CHECK_THROWS_AS(read_daemon_command({"--config", "/dev/null", "doctor", "explain"}), BloomgateError);
  CHECK_THAT(error_of([] { read_daemon_command({"--revoke", "joe@example.org"}); }).what(),
             Contains("a command has no dashes: bloomgate-milter revoke ENTRY"));
}

TEST_CASE("actions come from the command line, and help and version need no configuration file") {
  using Action = DaemonCommand::Action;
  CHECK(read_daemon_command({"--config", "/dev/null"}).action == Action::run);
  CHECK(read_daemon_command({"--config", "/dev/null", "--check-config"}).action == Action::check_config);
  const DaemonCommand doctor =
      read_daemon_command({"--config", "/dev/null", "--doctor", "--json", "--postfix-config", "/p"});
  CHECK(doctor.action == Action::doctor);
  CHECK(doctor.doctor.postfix_config == "/p");
  CHECK(doctor.doctor.sendmail_config == "/etc/mail");
  CHECK(doctor.doctor.json);
  CHECK(doctor.doctor.send.empty());
  const auto recipient = [](const Words& send) {
    Words words = {"--config", "/dev/null", "--doctor"};
    words.insert(words.end(), send.begin(), send.end());
    return read_daemon_command(words).doctor.send;
  };
  CHECK(recipient({"--send"}) == "postmaster");
  CHECK(recipient({"--send", "--json"}) == "postmaster");
  CHECK(recipient({"--send", "ann@b.example", "--json"}) == "ann@b.example");
  CHECK(recipient({"--send=ann@b.example"}) == "ann@b.example");
  CHECK(read_daemon_command({"--config", "/nonexistent", "--help"}).action == Action::help);
  CHECK(read_daemon_command({"--version", "--config", "/nonexistent"}).action == Action::version);
}

TEST_CASE("the command line says what the doctor examines") {
  const DoctorOptions defaults = read_daemon_command({"--config", "/dev/null", "--doctor"}).doctor;
  CHECK(defaults.clamd.empty());
  CHECK(defaults.fingerprints.empty());
  CHECK(defaults.signed_message.empty());
  CHECK(defaults.smtp == "127.0.0.1:25");
  CHECK(defaults.logs.empty());
  CHECK_FALSE(defaults.json);
  const DoctorOptions given = read_daemon_command({"--config",
                                                   "/dev/null",
                                                   "--doctor",
                                                   "--sendmail-config",
                                                   "/s",
                                                   "--clamd",
                                                   "unix:/c",
                                                   "--fingerprint",
                                                   "0a",
                                                   "--fingerprint",
                                                   "0b",
                                                   "--send",
                                                   "--signed-message",
                                                   "/m",
                                                   "--smtp",
                                                   "mx.example.org:25",
                                                   "--log",
                                                   "/a",
                                                   "--log",
                                                   "/b"})
                                  .doctor;
  CHECK(given.sendmail_config == "/s");
  CHECK(given.clamd == "unix:/c");
  CHECK(given.fingerprints == Words{"0a", "0b"});
  CHECK(given.signed_message == "/m");
  CHECK(given.smtp == "mx.example.org:25");
  CHECK(given.logs == Words{"/a", "/b"});
}

TEST_CASE("a command that edits a list takes its entries before and after options") {
  using Action = DaemonCommand::Action;
  for (const Words& arguments : {Words{"revoke", "a@b.example", "--config", "/dev/null", "@c.example", "--json"},
                                 Words{"--json", "--config", "/dev/null", "revoke", "a@b.example", "@c.example"}}) {
    const DaemonCommand command = read_daemon_command(arguments);
    CHECK(command.action == Action::edit_list);
    CHECK(command.list.spec == find_list_command("revoke"));
    CHECK(command.list.entries == Words{"a@b.example", "@c.example"});
    CHECK(command.list.json);
  }
  const DaemonCommand dash = read_daemon_command({"--config", "/dev/null", "add", "--", "-joe@b.example"});
  CHECK(dash.list.entries == Words{"-joe@b.example"});
  CHECK(dash.list.spec->list == ListName::extra);
}

TEST_CASE("the command why takes one subject, and the logs to read") {
  const DaemonCommand command = read_daemon_command(
      {"--config", "/dev/null", "why", "joe@b.example", "--log", "/var/log/a", "--log", "-", "--json"});
  CHECK(command.action == DaemonCommand::Action::why);
  CHECK(command.why.subject == "joe@b.example");
  CHECK(command.why.logs == Words{"/var/log/a", "-"});
  CHECK(command.why.json);
  CHECK(read_daemon_command({"--config", "/dev/null", "why", "4XyZ1"}).why.logs.empty());
}

TEST_CASE("an unknown command, a command without entries and a command beside another action are refused") {
  struct Case {
    Words arguments;
    std::string_view words;
  };
  for (const Case& c :
       {Case{{"forgive", "a@b.example"}, "expected an option or a command, got 'forgive'"},
        Case{{"revoke"}, "revoke: name at least one address"}, Case{{"why"}, "why: name one queue ID"},
        Case{{"why", "4XyZ1", "4XyZ2"}, "why: name one queue ID"},
        Case{{"why", "4XyZ1", "--explain"}, "--explain: it belongs to"},
        Case{{"why", "4XyZ1", "--send", "a@b.example"}, "--send: it belongs to"},
        Case{{"revoke", "a@b.example", "--log", "x"}, "--log: it belongs to"}, Case{{"whi", "4XyZ1"}, "did you mean"},
        Case{{"revoke", "a@b.example", "--doctor"}, "--doctor: it belongs to"}, Case{{"--words=", "revoke"}, "words"},
        Case{{"--words", "revoke"}, "words"}}) {
    Words arguments = c.arguments;
    arguments.insert(arguments.end(), {"--config", "/dev/null"});
    const BloomgateError error = error_of([&] { read_daemon_command(arguments); });
    CHECK(error.code() == ErrorCode::bad_argument);
    CHECK_THAT(error.what(), Contains(std::string(c.words)));
  }
}

TEST_CASE(
    "an invalid line of the file is refused with its line number, its option, what was expected and what was found") {
  struct Case {
    std::string_view name, text;
    unsigned line;
    std::string_view option, expected, got;
  };
  const Case cases[] = {
      {"unknown option", "\nwhite-list = /x\n", 2, "white-list", "no such option", ""},
      {"an option of the command line only", "config = /x\n", 1, "config", "no such option", ""},
      {"an action", "help = yes\n", 1, "help", "no such option", ""},
      {"an abbreviation", "sock = unix:/x\n", 1, "sock", "no such option", ""},
      {"no equals sign", "mode observe\n", 1, "", "'name = value'", "'mode observe'"},
      {"a section", "mode = observe\n[milter]\n", 2, "", "'name = value'", "'[milter]'"},
      {"a name of another case", "Mode = observe\n", 1, "Mode", "no such option", ""},
      {"twice", "mode = observe\n\nmode = enforce\n", 3, "mode", "second time", "line 1"},
      {"socket", "socket = /run/s\n", 1, "socket", "unix:PATH", "'/run/s'"},
      {"socket-mode not octal", "socket-mode = 0668\n", 1, "socket-mode", "octal", "'0668'"},
      {"socket-mode too large", "socket-mode = 1777\n", 1, "socket-mode", "0777", "'1777'"},
      {"socket-mode empty", "socket-mode =\n", 1, "socket-mode", "octal", "nothing"},
      {"whitelist empty", "whitelist =\n", 1, "whitelist", "a path", "nothing"},
      {"whitelist with a name only", "whitelist = name=\n", 1, "whitelist", "a path", "'name='"},
      {"two whitelists of one name", "whitelist = /a/x.bloom\nwhitelist = /b/x.bloom\n", 2, "whitelist", "another name",
       "'x'"},
      {"confirm with a name only", "confirm = whitelist=\n", 1, "confirm", "a path", "'whitelist='"},
      {"confirm of no whitelist", "confirm = other=/a.store\n", 1, "confirm", "the name of a whitelist (whitelist)",
       "'other'"},
      {"confirm without a name", "whitelist = /a.bloom\nwhitelist = /b.bloom\n\nconfirm = /a.store\n", 4, "confirm",
       "one of the whitelists (a, b)", "'/a.store'"},
      {"two stores of one whitelist", "confirm = /a.store\nconfirm = whitelist=/b.store\n", 2, "confirm",
       "keep one of the two", "/a.store"},
      {"confirm-timeout", "confirm-timeout = 0\n", 1, "confirm-timeout", "1 to 3600", "'0'"},
      {"identity", "identity = from\n", 1, "identity", "envelope, header-from, either, both", "'from'"},
      {"authentication", "authentication = on\n", 1, "authentication", "required, preferred, off", "'on'"},
      {"alignment", "alignment = loose\n", 1, "alignment", "parent, strict, relaxed", "'loose'"},
      {"spf-proves", "spf-proves = all\n", 1, "spf-proves", "domain, address, no", "'all'"},
      {"exempt-action", "exempt-action = pass\n", 1, "exempt-action", "none, deliver", "'pass'"},
      {"a network with bits behind its prefix", "exempt-networks = ::1\nexempt-networks = 127.0.0.1 192.0.2.1/24\n", 2,
       "exempt-networks", "192.0.2.0/24", "'192.0.2.1/24'"},
      {"a domain with a local part", "own-domains = example.org joe@example.org\n", 1, "own-domains", "domains",
       "'joe@example.org'"},
      {"a domain with an empty label", "trusted-forwarders = a..example\n", 1, "trusted-forwarders", "domains",
       "'a..example'"},
      {"an authserv-id with a semicolon", "trusted-authserv-id = mx.example;\n", 1, "trusted-authserv-id",
       "mx.example.org", "'mx.example;'"},
      {"a checker of another kind", "deep-check = clamd:unix:/run/clamd.ctl\n", 1, "deep-check",
       "rspamd:http://HOST:PORT", "'clamd:unix:/run/clamd.ctl'"},
      {"a checker and none", "deep-check = spamd:unix:/s\ndeep-check = none\n", 2, "deep-check", "exclude each other",
       "spamd:unix:/s"},
      {"no time at all", "deep-check-timeout = 0\n", 1, "deep-check-timeout", "seconds from 1 to 3600", "'0'"},
      {"a time with its unit", "deep-check-timeout = 30s\n", 1, "deep-check-timeout", "seconds from 1 to 3600",
       "'30s'"},
      {"learning from nobody knows what", "learn = inbound\n", 1, "learn", "none, outbound", "'inbound'"},
      {"kept for no day", "learn-keep = 0d\n", 1, "learn-keep", "1d to 36500d", "'0d'"},
      {"kept for hours", "learn-keep = 7h\n", 1, "learn-keep", "number of days", "'7h'"},
      {"a file that is no path", "learn-file = learned.db\n", 1, "learn-file", "the path of a file", "'learned.db'"},
      {"nothing an hour", "learn-rate = 0\n", 1, "learn-rate", "from 1 to 1000000", "'0'"},
      {"nothing an hour of a client", "learn-exempt-rate = 0\n", 1, "learn-exempt-rate", "from 1 to 1000000", "'0'"},
      {"no recipient", "learn-max-recipients = 0\n", 1, "learn-max-recipients", "from 1 to 1000", "'0'"},
      {"suspensions in no path", "suspend-file = suspended\n", 1, "suspend-file", "the path of a file", "'suspended'"},
      {"no connection", "max-connections = 0\n", 1, "max-connections", "from 1 to 100000", "'0'"},
      {"no time", "connection-timeout = 0\n", 1, "connection-timeout", "from 1 to 7200", "'0'"},
      {"longer than libmilter's", "connection-timeout = 7201\n", 1, "connection-timeout", "from 1 to 7200", "'7201'"},
      {"no message at a time", "deep-check-connections = 0\n", 1, "deep-check-connections", "from 1 to 10000", "'0'"},
      {"no size at all", "deep-check-max-size = 0\n", 1, "deep-check-max-size", "K, M or G", "'0'"},
      {"a unit alone", "deep-check-max-size = K\n", 1, "deep-check-max-size", "K, M or G", "'K'"},
      {"a size past all bounds", "deep-check-memory = 99999999999G\n", 1, "deep-check-memory", "1024G",
       "'99999999999G'"},
      {"a negative size", "deep-check-memory = -1\n", 1, "deep-check-memory", "K, M or G", "'-1'"},
      {"no folder", "deep-check-folder =\n", 1, "deep-check-folder", "a folder", "nothing"},
      {"deep-check-spam", "deep-check-spam = drop\n", 1, "deep-check-spam", "tag, quarantine, reject, tempfail",
       "'drop'"},
      {"a sample without a checker", "deep-check-sample = 0.1%\n", 1, "deep-check-sample", "name one with deep-check",
       ""},
      {"a share without its sign", "deep-check = spamd:unix:/s\ndeep-check-sample = 0.1\n", 2, "deep-check-sample",
       "0% to 100%", "'0.1'"},
      {"a share of more than all", "deep-check = spamd:unix:/s\ndeep-check-sample = 100.1%\n", 2, "deep-check-sample",
       "0% to 100%", "'100.1%'"},
      {"a share of less than nothing", "deep-check = spamd:unix:/s\ndeep-check-sample = -0%\n", 2, "deep-check-sample",
       "0% to 100%", "'-0%'"},
      {"a share that is no number", "deep-check = spamd:unix:/s\ndeep-check-sample = nan%\n", 2, "deep-check-sample",
       "0% to 100%", "'nan%'"},
      {"a share with two points", "deep-check = spamd:unix:/s\ndeep-check-sample = 0.1.1%\n", 2, "deep-check-sample",
       "0% to 100%", "'0.1.1%'"},
      {"a sign alone", "deep-check = spamd:unix:/s\ndeep-check-sample = %\n", 2, "deep-check-sample", "0% to 100%",
       "'%'"},
      {"deep-check-failure", "deep-check-failure = reject\n", 1, "deep-check-failure", "tempfail, tag", "'reject'"},
      {"yes or no", "lock-memory = true\n", 1, "lock-memory", "yes, no", "'true'"},
      {"allow-missing-whitelist", "allow-missing-whitelist = 1\n", 1, "allow-missing-whitelist", "yes, no", "'1'"},
      {"mode", "mode = ENFORCE\n", 1, "mode", "enforce, observe", "'ENFORCE'"},
      {"host-name", "host-name = mx; x\n", 1, "host-name", "host name", "'mx; x'"},
      {"log-target", "log-target = file\n", 1, "log-target", "stderr, syslog, journal", "'file'"},
      {"metrics", "metrics = 9812\n", 1, "metrics", "HOST:PORT", "'9812'"},
      {"lookup-socket", "lookup-socket = run/lookup.sock\n", 1, "lookup-socket", "HOST:PORT", "'run/lookup.sock'"},
      {"log-level", "log-level = notice\n", 1, "log-level", "error, warning, info, debug", "'notice'"},
      {"control bytes", "log-level = \x1b[2J\n", 1, "log-level", "debug", "'\\x1b[2J'"},
  };
  for (const Case& c : cases) {
    INFO(c.name);
    const Config config(c.text);
    const BloomgateError error = error_of([&] { config.read(); });
    CHECK(error.code() == ErrorCode::bad_configuration);
    CHECK(error.details().path == config.path());
    const std::string option = c.option.empty() ? "" : std::string(c.option) + ": ";
    CHECK_THAT(error.what(), StartsWith(config.path() + ":" + std::to_string(c.line) + ": " + option));
    CHECK_THAT(error.what(), Contains(std::string(c.expected)) && Contains(std::string(c.got)));
  }
}

TEST_CASE("learning without own domains is refused") {
  const Config config("learn = outbound\n");
  const BloomgateError error = error_of([&] { config.read(); });
  CHECK(error.code() == ErrorCode::bad_configuration);
  CHECK_THAT(error.what(), Contains("learn: it needs your own domains in own-domains"));
  CHECK(config.read({"--own-domains", "one.example"}).options.learn == DaemonOptions::Learn::outbound);
  CHECK_FALSE(config.read({"--own-domains", "one.example"}).options.learn_from_exempt);
}

TEST_CASE("learning from exempt networks without one is refused") {
  const Config config("learn-from-exempt = yes\n");
  const BloomgateError error = error_of([&] { config.read(); });
  CHECK(error.code() == ErrorCode::bad_configuration);
  CHECK_THAT(error.what(), Contains("learn-from-exempt: it needs the clients to learn from in exempt-networks"));
  CHECK(config.read({"--exempt-networks", "192.0.2.1"}).options.learn_from_exempt);
}

TEST_CASE("an invalid command line is refused") {
  struct Case {
    std::string_view name;
    std::vector<std::string> arguments;
    std::string_view option, expected;
  };
  const Case cases[] = {
      {"unknown option", {"--white-list", "x"}, "", "--white-list"},
      {"an abbreviation", {"--sock", "unix:/x"}, "", "--sock"},
      {"a process that cannot be", {"--reload", "0"}, "reload", "a number from 1 to"},
      {"a process without a number", {"--reload", "all"}, "reload", "a number"},
      {"a short option", {"-c", "x"}, "", "-c"},
      {"a missing value", {"--mode"}, "", "mode"},
      {"a value too many", {"--help=yes"}, "", "help"},
      {"a word that is no option", {"observe"}, "", "a command"},
      {"twice", {"--mode", "observe", "--mode", "observe"}, "mode", "second time"},
      {"a bad address to explain", {"--explain", "--client", "localhost"}, "client", "an IP address"},
      {"a bad value", {"--mode", "off"}, "mode", "one of enforce, observe, got 'off'"},
  };
  for (const Case& c : cases) {
    INFO(c.name);
    const BloomgateError error = error_of([&] {
      std::vector<std::string> arguments = c.arguments;
      arguments.insert(arguments.begin(), {"--config", "/dev/null"});
      read_daemon_command(arguments);
    });
    CHECK(error.code() == ErrorCode::bad_argument);
    const std::string option = c.option.empty() ? "" : "--" + std::string(c.option) + ": ";
    CHECK_THAT(error.what(), StartsWith("command line: " + option) && Contains(std::string(c.expected)));
  }
}

TEST_CASE("a bad value in the file is refused although the command line overrides it") {
  const Config config("mode = off\n");
  const BloomgateError error = error_of([&] { config.read({"--mode", "observe"}); });
  CHECK_THAT(error.what(), StartsWith(config.path() + ":1: mode: "));
}

TEST_CASE_METHOD(InFolder, "a missing file and a folder in its place are errors that say what to do") {
  for (const std::string& path : {folder.file("missing.conf"), folder.path().string()}) {
    const BloomgateError error = error_of([&] { read_daemon_command({"--config", path}); });
    CHECK(error.code() == ErrorCode::bad_configuration);
    CHECK(error.details().path == path);
    CHECK_THAT(error.what(), Contains(path) && Contains("--config /dev/null"));
  }
}

TEST_CASE("a host name may contain only characters that a header field may contain") {
  for (const char* const name : {"mx", "mx.example.org", "xn--mx-mia.example", "[192.0.2.1]", "[IPv6:2001:db8::1]"}) {
    CHECK(is_host_name(name));
  }
  CHECK(is_host_name(std::string(255, 'x')));
  CHECK_FALSE(is_host_name(std::string(256, 'x')));
  for (const char* const name : {"", "mx example", "mx;x", "mx\n", "m\xc3\xbc.example", "mx=1", "(mx)"}) {
    INFO(name);
    CHECK_FALSE(is_host_name(name));
  }
}

TEST_CASE("which options are set, in the file or on the command line, is known apart from their values") {
  const auto given = [](const std::string& file, std::vector<std::string> arguments = {}) {
    return Config(file).read(std::move(arguments)).given;
  };
  CHECK_FALSE(given("").contains("alignment"));
  CHECK(given("alignment = parent\n").contains("alignment"));
  CHECK(given("", {"--alignment", "parent"}).contains("alignment"));
  CHECK_FALSE(given("#alignment = parent\n").contains("alignment"));
}

}  // namespace
}  // namespace bloomgate::test
