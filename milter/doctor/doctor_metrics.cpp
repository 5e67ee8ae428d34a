// What --doctor reads in the figures of the running daemon: what its files and sockets do not tell.
#include <fmt/format.h>

#include <chrono>

#include "milter/deep_check/http_exchange.hpp"
#include "milter/doctor/doctor.hpp"
#include "milter/doctor/shown_figures.hpp"

namespace bloomgate {
namespace {

using Level = DoctorFinding::Level;

constexpr const char* kSubject = "metrics";
constexpr const char* kReload = ", then: systemctl reload bloomgate-milter";
constexpr std::chrono::seconds kMetricsPatience{5};

// The bounds of config/prometheus and of the status page.
constexpr double kMostSpamDelivered = 0.02;
constexpr double kMostFailedChecks = 0.05;
constexpr double kMostUnproven = 0.05;
constexpr std::string_view kFieldAdded = "field-added-";
constexpr double kFewest = 20;  // of what a share is taken of

// As a checker's address: what speaks HTTP to one speaks it to the daemon.
DeepCheckServer http_server_at(const SocketAddress& address) {
  if (address.family == SocketAddress::Family::unix_path) return {.url = "", .address = address};
  const bool is_ipv6 = address.host.find(':') != std::string::npos;
  return {.url = fmt::format("http://{}:{}", is_ipv6 ? "[" + address.host + "]" : address.host, address.port),
          .address = {}};
}

std::string percent(double share) {
  return fmt::format("{:.3g} %", 100 * share);
}

class Reader {
 public:
  Reader(const ShownFigures& figures, std::vector<DoctorFinding>& findings) : figures_(figures), findings_(findings) {}

  void examine() {
    const std::size_t before = findings_.size();
    lists();
    observed_rates();
    service();
    checkers();
    samples();
    proofs();
    if (findings_.size() != before) return;
    add(Level::ok, fmt::format("the daemon's figures need no action; {:.0f} messages were decided since it started",
                               figures_.sum("messages_total")));
  }

 private:
  // Why messages are checked.
  struct Cause {
    double messages;
    std::string text, remedy;
  };

  void add(Level level, std::string text, std::string remedy = {}) {
    findings_.push_back({level, kSubject, std::move(text), std::move(remedy)});
  }

  void lists() {
    for (const ShownFigure& each : figures_.all("whitelist_usable")) {
      if (each.value != 0) continue;
      add(Level::problem,
          fmt::format("the daemon's whitelist {} is missing or damaged: it lists nobody",
                      label_value(each.labels, "whitelist")),
          fmt::format("put a good file in its place (bloomgate verify tells){}", kReload));
    }
    for (const ShownFigure& each : figures_.all("exact_list_lost")) {
      if (each.value == 0) continue;
      add(Level::problem, fmt::format("the daemon can no longer read the list {}", label_value(each.labels, "list")),
          "mend the file, or put it back; it is read again within a second");
    }
    for (const ShownFigure& each : figures_.all("whitelist_store_faulty")) {
      if (each.value == 0) continue;
      add(Level::warning,
          fmt::format("the store of whitelist {} is damaged, or did not answer in time",
                      label_value(each.labels, "whitelist")),
          fmt::format("look at its disk, and build the pair again{}", kReload));
    }
  }

  // As has_too_many_hits() of the status page.
  void observed_rates() {
    for (const ShownFigure& each : figures_.all("whitelist_probe_hits_total")) {
      const double probes = figures_.value("whitelist_probes_total", each.labels).value_or(0);
      const double expected = figures_.value("whitelist_probe_expected_ratio", each.labels).value_or(1);
      if (each.value <= 2 * probes * expected + 30) continue;
      add(Level::problem,
          fmt::format("whitelist {} has {} of random keys that no list can hold, instead of {}: strangers pass for "
                      "listed",
                      label_value(each.labels, "whitelist"), percent(each.value / probes), percent(expected)),
          "build it again, with room for all of its entries; see bloomgate info and bloomgate verify");
    }
  }

  void service() {
    if (figures_.value("last_reload_refused").value_or(0) != 0) {
      add(Level::problem, "the last reload was refused, and what was in use before still is",
          fmt::format("the status page and the log say why; mend it{}", kReload));
    }
    if (figures_.value("waits_for_restart").value_or(0) != 0) {
      add(Level::warning, "options have changed that a reload cannot take in", "systemctl restart bloomgate-milter");
    }
    if (figures_.value("trusted_results_missing").value_or(0) != 0) {
      add(Level::problem, "none of the last 1000 messages had trusted results of authentication: none is delivered",
          "let a milter before Bloomgate write them, and set trusted-authserv-id to its name");
    }
    if (figures_.value("learning_stopped").value_or(0) != 0) {
      add(Level::problem, "nothing is learned from outgoing mail: the database cannot be used",
          "see why on the status page or in the log; mail continues, and the daemon tries again every few seconds");
    }
    if (const double lost = figures_.value("log_lines_lost_total").value_or(0); lost > 0) {
      add(Level::warning, fmt::format("the log has lost {:.0f} lines since the daemon started", lost),
          "see whether its disk is full or slow; log-level = warning writes fewer lines");
    }
    if (const double count = figures_.value("sessions_turned_away_total").value_or(0); count > 0) {
      add(Level::warning,
          fmt::format("{:.0f} connections of the mail server were turned away since the daemon started, for "
                      "max-connections ({:.0f})",
                      count, figures_.value("sessions_limit").value_or(0)),
          "raise max-connections, if the mail server may have so many; or see why they stay open (ss -xp, ss -tp)");
    }
  }

  void checkers() {
    const double all = figures_.sum("deep_checks_total");
    const double failed = figures_.sum("deep_checks_total", "answer=\"failed\"");
    if (all < kFewest || failed <= kMostFailedChecks * all) return;
    add(Level::problem, fmt::format("of {:.0f} messages that were to be checked, {:.0f} got no answer", all, failed),
        "look at the servers of deep-check, and at their load; the log names what was wrong with each");
  }

  void samples() {
    if (figures_.value("delivered_spam_lower_ratio").value_or(0) > kMostSpamDelivered) {
      add(Level::problem,
          fmt::format("by its samples, the checker calls {} to {} of the delivered mail spam",
                      percent(figures_.value("delivered_spam_lower_ratio").value_or(0)),
                      percent(figures_.value("delivered_spam_upper_ratio").value_or(1))),
          "bloomgate report names the senders; bloomgate-milter revoke ADDRESS stops one within a second");
    }
    const double all = figures_.sum("delivery_samples_total");
    const double unanswered = figures_.sum("delivery_samples_total", "answer=\"failed\"") +
                              figures_.sum("delivery_samples_total", "answer=\"dropped\"");
    if (all < kFewest || unanswered <= all / 2) return;
    add(Level::warning, fmt::format("of {:.0f} samples of delivered mail, {:.0f} got no answer", all, unanswered),
        "see whether the servers of deep-check answer; if they do, set deep-check-sample to a smaller share");
  }

  // Of the messages of listed senders: how many are checked for a rule of signatures that an option governs, and for
  // which rule most are.
  void proofs() {
    double listed = 0;
    for (const ShownFigure& each : figures_.all("messages_total")) {
      if (label_value(each.labels, "whitelist") != "none") listed += each.value;
    }
    Cause largest = {figures_.sum("child_signed_messages_total"),
                     "only a name below the sender's domain has signed (child_signer= in the log)",
                     "see bloomgate report for the signers; alignment = relaxed lets them count, and every other name "
                     "of the organisation as well"};
    const auto compare = [&largest](Cause other) {
      if (other.messages > largest.messages) largest = std::move(other);
    };
    compare({figures_.sum("signatures_total", "outcome=\"too-old\""), "the signature was too old",
             "see whether your mail waits somewhere, or raise max-signature-age"});
    for (const ShownFigure& each : figures_.all("signatures_total")) {
      std::string_view field = label_value(each.labels, "outcome");
      if (!field.starts_with(kFieldAdded)) continue;
      field.remove_prefix(kFieldAdded.size());
      compare({each.value, fmt::format("the signature leaves the field {} open", field),
               "if require-signed names the field, leave it out there; else the sender has to sign it: the manual says "
               "which signing software does"});
    }
    if (listed < kFewest || largest.messages <= kMostUnproven * listed) return;
    add(Level::warning,
        fmt::format("of {:.0f} messages of listed senders, {:.0f} were checked since {}", listed, largest.messages,
                    largest.text),
        largest.remedy);
  }

  const ShownFigures& figures_;
  std::vector<DoctorFinding>& findings_;
};

}  // namespace

void examine_figures(std::string_view text, std::vector<DoctorFinding>& findings) {
  const ShownFigures figures(text);
  if (!figures.are_ours()) {
    findings.push_back({Level::problem, kSubject, "what answers at the address of metrics is not bloomgate-milter",
                        "see what listens there (ss -lxtp), or set metrics to another address, then restart"});
    return;
  }
  Reader(figures, findings).examine();
}

void examine_metrics(const DaemonOptions& options, std::vector<DoctorFinding>& findings) {
  if (!options.metrics) return;
  const std::string name = to_string(*options.metrics);
  std::string fault;
  try {
    const HttpReply reply =
        http_get(http_server_at(*options.metrics), "/metrics", std::chrono::steady_clock::now() + kMetricsPatience);
    if (reply.status == 200) {
      examine_figures(reply.body, findings);
      return;
    }
    fault = fmt::format("status {}", reply.status);
  } catch (const CheckerError& error) {
    fault = error.what();
  }
  findings.push_back({Level::problem, kSubject, "the daemon's figures at " + name + " cannot be read: " + fault,
                      "run this as root, on the machine of the daemon; the daemon's log says whether it shows them "
                      "(an option that has changed waits for a restart)"});
}

}  // namespace bloomgate
