#include "milter/monitoring/metrics_text.hpp"

#include <prometheus/metric_family.h>
#include <prometheus/text_serializer.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string_view>
#include <vector>

#include "config/enum_words.hpp"
#include "filter/layout/sizing.hpp"
#include "milter/health/proportion.hpp"
#include "milter/health/rules.hpp"
#include "milter/lists/whitelist_files.hpp"
#include "milter/monitoring/health_of_daemon.hpp"
#include "milter/monitoring/service_status.hpp"

namespace bloomgate {
namespace {

using prometheus::ClientMetric;
using prometheus::MetricFamily;
using prometheus::MetricType;
using Labels = std::vector<ClientMetric::Label>;

double seconds_of(std::chrono::system_clock::time_point time) {
  return std::chrono::duration<double>(time.time_since_epoch()).count();
}

double number(std::uint64_t count) {
  return static_cast<double>(count);
}

class Families {
 public:
  MetricFamily& counter(std::string name, std::string help) {
    return add(std::move(name), std::move(help), MetricType::Counter);
  }
  MetricFamily& gauge(std::string name, std::string help) {
    return add(std::move(name), std::move(help), MetricType::Gauge);
  }
  void one_counter(std::string name, std::string help, double value) {
    put(counter(std::move(name), std::move(help)), {}, value);
  }
  void one_gauge(std::string name, std::string help, double value) {
    put(gauge(std::move(name), std::move(help)), {}, value);
  }
  void histogram(std::string name, std::string help, const TimeHistogram& times) {
    const TimeHistogram::Reading reading = times.read();
    ClientMetric metric;
    metric.histogram.sample_count = reading.cumulative.back();
    metric.histogram.sample_sum = reading.sum_seconds;
    for (std::size_t i = 0; i < reading.cumulative.size(); ++i) {
      const bool is_last = i == times.bounds().size();
      const double bound = is_last ? std::numeric_limits<double>::infinity() : times.bounds()[i];
      metric.histogram.bucket.push_back({reading.cumulative[i], bound});
    }
    add(std::move(name), std::move(help), MetricType::Histogram).metric.push_back(std::move(metric));
  }

  static void put(MetricFamily& family, Labels labels, double value) {
    ClientMetric metric;
    metric.label = std::move(labels);
    if (family.type == MetricType::Counter) {
      metric.counter.value = value;
    } else {
      metric.gauge.value = value;
    }
    family.metric.push_back(std::move(metric));
  }

  std::string text() const { return prometheus::TextSerializer().Serialize(families_); }

 private:
  // The reference is valid until the next family is added.
  MetricFamily& add(std::string name, std::string help, MetricType type) {
    families_.push_back({std::move(name), std::move(help), type, {}});
    return families_.back();
  }

  std::vector<MetricFamily> families_;
};

ClientMetric::Label label(std::string name, std::string_view value) {
  ClientMetric::Label made;
  made.name = std::move(name);
  made.value = std::string(value);
  return made;
}

std::string_view name_or_none(std::string_view name) {
  return name.empty() ? "none" : name;
}

void add_messages(Families& families, const Tally& tally) {
  MetricFamily& messages =
      families.counter("bloomgate_messages_total", "Decided messages, by decision, reason, sender and whitelist.");
  for (const Tally::Messages& each : tally.messages()) {
    Families::put(messages,
                  {label("decision", outcome_name(outcome_of(each.verdict, each.reason))),
                   label("reason", reason_name(each.reason)), label("identity", identity_kind_name(each.identity)),
                   label("whitelist", name_or_none(each.list))},
                  number(each.count));
  }
  if (const std::uint64_t refused = tally.messages(Outcome::refuse); refused != 0) {
    Families::put(messages,
                  {label("decision", outcome_name(Outcome::refuse)), label("reason", kForgedFields),
                   label("identity", identity_kind_name(IdentityKind::none)), label("whitelist", name_or_none(""))},
                  number(refused));
  }
  // Each series exists from the start, so that Prometheus does not miss the first message.
  MetricFamily& decisions = families.counter("bloomgate_decisions_total", "The same, by what was decided alone.");
  for (const Outcome each : kEachOutcome) {
    Families::put(decisions, {label("decision", outcome_name(each))}, number(tally.messages(each)));
  }
  families.histogram("bloomgate_decision_seconds",
                     "Time to decide a message, with stores asked, without signatures and deeper checks.",
                     tally.decision_times());
  families.one_counter("bloomgate_look_ups_total", "Senders looked up in the bits of a whitelist.",
                       number(tally.look_ups()));
  families.one_counter("bloomgate_hits_total", "Look-ups of which the bits had the sender.", number(tally.hits()));
  families.one_gauge("bloomgate_sessions_open", "Connections of mail servers that are open.",
                     number(tally.open_sessions()));
  families.one_counter("bloomgate_sessions_total", "Connections of mail servers since the start.",
                       number(tally.sessions()));
  families.one_gauge("bloomgate_sessions_limit", "How many connections may be open: the option max-connections.",
                     number(tally.session_limit()));
  MetricFamily& turned_away = families.counter("bloomgate_sessions_turned_away_total",
                                               "Connections turned away, since too many were open (limit), or too few "
                                               "descriptors were left (descriptors).");
  Families::put(turned_away, {{"cause", "limit"}}, number(tally.turned_away()));
  Families::put(turned_away, {{"cause", "descriptors"}}, number(tally.without_descriptor()));
  families.one_counter("bloomgate_sessions_cut_off_total",
                       "Connections ended, since no step of the protocol was completed in time.",
                       number(tally.cut_off()));
  families.one_counter("bloomgate_sessions_malformed_total",
                       "Connections ended, since a mail server sent the name of a macro without its value.",
                       number(tally.malformed()));
}

// Outcomes that were never counted are omitted: there are many.
void add_signatures(Families& families, const Tally& tally) {
  MetricFamily& signatures =
      families.counter("bloomgate_signatures_total",
                       "Messages whose signatures were verified, by what became of those of their sender.");
  for (std::size_t i = 0; i < kSignatureOutcomes; ++i) {
    const auto outcome = static_cast<SignatureOutcome>(i);
    const std::uint64_t count = tally.signatures(outcome);
    if (count != 0) Families::put(signatures, {label("outcome", signature_outcome_name(outcome))}, number(count));
  }
  families.one_counter("bloomgate_child_signed_messages_total",
                       "Messages of listed senders checked since only a name below the sender's domain has signed.",
                       number(tally.child_signed()));
}

void add_key_lookups(Families& families, const Tally& tally) {
  MetricFamily& lookups = families.counter("bloomgate_key_lookups_total",
                                           "Keys of signatures that messages waited for, by what their look-up found.");
  for (std::size_t i = 0; i < kTxtStatuses; ++i) {
    const auto status = static_cast<TxtStatus>(i);
    Families::put(lookups, {label("outcome", txt_status_name(status))}, number(tally.key_lookups(status)));
  }
  families.histogram("bloomgate_key_lookup_seconds", "Time that the look-up of a key took, cached ones included.",
                     tally.key_lookup_times());
}

void add_confirmations(Families& families, const Tally& tally) {
  MetricFamily& answers =
      families.counter("bloomgate_confirmations_total", "Hits that a store was asked about, by its answer.");
  for (const Tally::Confirmations& each : tally.confirmations()) {
    Families::put(answers, {label("whitelist", each.whitelist), label("answer", confirmation_name(each.answer))},
                  number(each.count));
  }
  families.histogram("bloomgate_confirmation_seconds", "Time that a store took for its answer.",
                     tally.confirmation_times());
}

void add_deep_checks(Families& families, const Tally& tally) {
  MetricFamily& answers = families.counter("bloomgate_deep_checks_total",
                                           "Messages given to a checker, by its answer and what was done with them.");
  for (const Tally::DeepChecks& each : tally.deep_checks()) {
    Families::put(answers, {label("answer", each.answer), label("action", word_of(each.action))}, number(each.count));
  }
  families.histogram("bloomgate_deep_check_seconds", "Time that the deeper check of a message took.",
                     tally.deep_check_times());
}

// Wilson's interval, so that a dashboard shows how reliable the share is.
void add_samples(Families& families, const Tally& tally) {
  MetricFamily& samples = families.counter("bloomgate_delivery_samples_total",
                                           "Delivered messages drawn to be shown to a checker, by its answer.");
  for (std::size_t i = 0; i < kSampleAnswers; ++i) {
    const auto answer = static_cast<SampleAnswer>(i);
    Families::put(samples, {label("answer", sample_answer_name(answer))}, number(tally.samples(answer)));
  }
  families.one_gauge("bloomgate_delivery_sample_ratio", "Share of delivered messages that is drawn; 0: none.",
                     tally.sample_share());
  // Without answers, the share has no value.
  const std::uint64_t spam = tally.samples(SampleAnswer::spam);
  const std::uint64_t answered = std::max(tally.answered_samples(), spam);
  const Interval share = wilson_interval(spam, answered);
  const auto one_share = [&](const char* name, const char* help, double value) {
    MetricFamily& family = families.gauge(name, help);
    if (answered != 0) Families::put(family, {}, value);
  };
  one_share("bloomgate_delivered_spam_ratio",
            "Share of the delivered messages that a checker calls spam, since the start, by the samples.",
            number(spam) / number(std::max<std::uint64_t>(answered, 1)));
  one_share("bloomgate_delivered_spam_lower_ratio", "What that share is at least, with 95 % confidence.", share.lower);
  one_share("bloomgate_delivered_spam_upper_ratio", "What that share is at most, with 95 % confidence.", share.upper);
}

// Each series exists from the start, so that Prometheus does not miss the first refusal.
void add_refused_posts(Families& families, const Tally& tally) {
  MetricFamily& refused = families.counter("bloomgate_posted_messages_refused_total",
                                           "Messages that programs posted and that got no decision, by the status of "
                                           "the answer; none: no answer, since the message did not arrive as a whole.");
  for (const unsigned status : Tally::kPostStatuses) {
    Families::put(refused, {label("status", status == 0 ? "none" : std::to_string(status))},
                  number(tally.refused_posts(status)));
  }
}

void add_service(Families& families, const Monitor& monitor) {
  MetricFamily& reloads = families.counter("bloomgate_reloads_total",
                                           "Reloads, asked for or because a list was replaced, by their outcome.");
  Families::put(reloads, {label("outcome", "accepted")}, number(monitor.tally().reloads(true)));
  Families::put(reloads, {label("outcome", "refused")}, number(monitor.tally().reloads(false)));
  families.one_gauge("bloomgate_last_reload_timestamp_seconds",
                     "When the last reload was accepted, or else when the daemon started.",
                     seconds_of(monitor.reloaded_at().value_or(monitor.started_at())));
  families.one_counter("bloomgate_log_lines_lost_total", "Lines that the log did not take in time.",
                       number(monitor.lost_log_lines()));
  families.one_gauge("bloomgate_start_timestamp_seconds", "When the daemon started.", seconds_of(monitor.started_at()));
  Families::put(families.gauge("bloomgate_build_info", "The version of the daemon; always 1."),
                {label("version", BLOOMGATE_VERSION)}, 1);
}

// A whitelist as configured: its filter, or its layers. One label for all of them, since layers come and go.
struct WhitelistLayers {
  std::string_view name;
  std::vector<const LoadedFilter*> filters;
};

std::vector<WhitelistLayers> whitelists_of(const LoadedLists& lists) {
  std::vector<WhitelistLayers> whitelists;
  for (const NamedFilter& each : lists.parts().whitelists) {
    const std::string_view name = configured_name(each.name);
    if (whitelists.empty() || whitelists.back().name != name) whitelists.push_back({name, {}});
    if (each.filter) whitelists.back().filters.push_back(each.filter.get());
  }
  return whitelists;
}

template <typename FigureOf>
void put_figures(MetricFamily& family, const LoadedLists& lists, FigureOf figure) {
  for (const WhitelistLayers& each : whitelists_of(lists)) {
    if (!each.filters.empty()) Families::put(family, {label("whitelist", each.name)}, figure(each.filters));
  }
}

using Filters = std::vector<const LoadedFilter*>;

// Turns a figure for one filter into one for several.
template <typename FigureOf>
auto sum_of(FigureOf figure) {
  return [figure](const Filters& filters) {
    double sum = 0;
    for (const LoadedFilter* const each : filters) sum += figure(*each);
    return sum;
  };
}

template <typename FigureOf>
auto mean_of(FigureOf figure) {
  return [figure](const Filters& filters) { return sum_of(figure)(filters) / number(filters.size()); };
}

template <typename FigureOf>
auto latest_of(FigureOf figure) {
  return [figure](const Filters& filters) {
    double latest = figure(*filters.front());
    for (const LoadedFilter* const each : filters) latest = std::max(latest, figure(*each));
    return latest;
  };
}

double rate_of_all(const Filters& filters) {
  std::vector<double> rates;
  for (const LoadedFilter* const each : filters) rates.push_back(each->false_positive_rate());
  return rates.size() == 1 ? rates.front() : fpr_of_several(rates);
}

double bits_of(const LoadedFilter& filter) {
  return 8 * number(filter.view().body().size());
}

void add_probes(Families& families, const LoadedLists& lists, const RateProbes& probes) {
  put_figures(
      families.counter("bloomgate_whitelist_probes_total",
                       "Random keys that no list can hold and that were looked up in the whitelist's bits, one a "
                       "second in each layer since it was loaded."),
      lists, sum_of([&](const LoadedFilter& filter) { return number(probes.of(filter).probes); }));
  put_figures(families.counter("bloomgate_whitelist_probe_hits_total",
                               "Of these keys, those that the bits had: observed false positives, no store asked."),
              lists, sum_of([&](const LoadedFilter& filter) { return number(probes.of(filter).hits); }));
  put_figures(families.gauge("bloomgate_whitelist_probe_expected_ratio",
                             "Share of these keys that the bits are expected to have, by their fill."),
              lists, mean_of(expected_rate_of_bits));
}

// For whitelists that were accepted by a manifest; nothing if no key is trusted.
void add_manifests(Families& families, const LoadedLists& lists) {
  const auto& whitelists = lists.parts().whitelists;
  if (std::ranges::none_of(whitelists, [](const NamedFilter& each) { return each.manifest != nullptr; })) return;
  MetricFamily& number = families.gauge("bloomgate_whitelist_published_number",
                                        "Number of the manifest by which the whitelist was taken.");
  MetricFamily& holds_until = families.gauge("bloomgate_whitelist_holds_until_timestamp_seconds",
                                             "Until when the manifest of the whitelist holds.");
  std::string_view last;
  for (const NamedFilter& each : whitelists) {
    const std::string_view name = configured_name(each.name);
    if (!each.manifest || name == last) continue;
    last = name;
    const Manifest& manifest = each.manifest->manifest;
    Families::put(number, {label("whitelist", name)}, static_cast<double>(manifest.number));
    Families::put(holds_until, {label("whitelist", name)}, seconds_of(manifest.holds_until));
  }
}

void add_whitelists(Families& families, const LoadedLists& lists) {
  MetricFamily& usable = families.gauge("bloomgate_whitelist_usable",
                                        "Whether the whitelist is loaded and not damaged, each layer of it.");
  for (const WhitelistLayers& each : whitelists_of(lists)) {
    const bool is_usable = !each.filters.empty() && std::ranges::all_of(each.filters, [](const LoadedFilter* filter) {
      return filter->damage() == Damage::none;
    });
    Families::put(usable, {label("whitelist", each.name)}, is_usable ? 1 : 0);
  }
  const auto add = [&](const char* name, const char* help, auto figure) {
    put_figures(families.gauge(name, help), lists, figure);
  };
  add_manifests(families, lists);
  add("bloomgate_whitelist_layers", "Layers of the whitelist; 1 for a single file.",
      sum_of([](const LoadedFilter&) { return 1.0; }));
  add("bloomgate_whitelist_entries", "Entries of the whitelist, domains among them.",
      sum_of([](const LoadedFilter& filter) { return number(entries_of(filter.header())); }));
  add("bloomgate_whitelist_size_bytes", "Size of the whitelist's file, or of all its layers.",
      sum_of([](const LoadedFilter& filter) { return number(filter.file().stamp().size_bytes()); }));
  add("bloomgate_whitelist_fill_ratio", "Share of the whitelist's bits that are set.", [](const Filters& filters) {
    return sum_of([](const LoadedFilter& filter) { return number(filter.header().bits_set); })(filters) /
           sum_of(bits_of)(filters);
  });
  add("bloomgate_whitelist_false_positive_ratio",
      "Expected share of strangers that one look-up, in all layers, takes for listed, stores included.", rate_of_all);
  add("bloomgate_whitelist_written_timestamp_seconds", "When the whitelist's file, or its newest layer, was written.",
      latest_of(
          [](const LoadedFilter& filter) { return seconds_of(written_at(filter).value_or(filter.loaded_at())); }));
  add("bloomgate_whitelist_loaded_timestamp_seconds", "When the whitelist, or its newest layer, was loaded.",
      latest_of([](const LoadedFilter& filter) { return seconds_of(filter.loaded_at()); }));
}

void add_lists(Families& families, const Monitor& monitor) {
  const auto lists = monitor.lists();
  const ListParts& parts = lists->parts();
  add_whitelists(families, *lists);
  add_probes(families, *lists, monitor.probes());
  if (const auto rate = false_positive_rate_of_message(*lists, monitor.standing()->identity)) {
    families.one_gauge("bloomgate_message_false_positive_ratio",
                       "Expected share of messages from unlisted senders that are found, by the rule in force.", *rate);
  }
  MetricFamily& entries = families.gauge("bloomgate_exact_list_entries", "Entries of an exact list.");
  for (const NamedExactList& each : kExactLists) {
    const ExactListPart& part = parts.*each.part;
    if (part.list) Families::put(entries, {label("list", each.name)}, number(part.list->size()));
  }
}

void add_learning(Families& families, const Learner::Status& learning) {
  families.one_gauge("bloomgate_learned_pairs", "Pairs of a user and a correspondent that are known.",
                     number(learning.pairs));
  families.one_gauge("bloomgate_learned_memory_bytes", "Memory that they take.", number(learning.bytes));
  families.one_counter("bloomgate_learned_total", "Pairs that were learned.", number(learning.learned));
  families.one_counter("bloomgate_learned_renewed_total", "Pairs that were used again, counted once a day.",
                       number(learning.renewed));
  MetricFamily& heard = families.gauge("bloomgate_heard_pairs", "Pairs that another host shares, by its folder.");
  MetricFamily& shared = families.gauge("bloomgate_heard_timestamp_seconds", "When it has shared what is in use.");
  for (const HeardStatus& each : learning.heard) {
    Families::put(heard, {label("folder", each.folder)}, number(each.pairs));
    Families::put(shared, {label("folder", each.folder)}, seconds_of(each.made));
  }
  MetricFamily& left_out = families.counter("bloomgate_not_learned_total", "Pairs that were left out, by the reason.");
  Families::put(left_out, {label("reason", "rate")}, number(learning.over_rate));
  Families::put(left_out, {label("reason", "exempt-rate")}, number(learning.over_exempt_rate));
  Families::put(left_out, {label("reason", "no-room")}, number(learning.no_room));
  Families::put(left_out, {label("reason", "no-database")}, number(learning.not_stored));
}

void add_brake(Families& families, const Brake::Status& brake) {
  families.one_gauge("bloomgate_counted_senders", "Listed senders whose messages are counted.", number(brake.senders));
  families.one_gauge("bloomgate_counted_senders_memory_bytes", "Memory that they take.", number(brake.bytes));
  families.one_gauge("bloomgate_burst_observing", "Whether bursts are observed only (1), or senders are held (0).",
                     number(brake.observes_until ? 1U : 0U));
  families.one_counter("bloomgate_burst_observed_total", "Messages that would have been held, while it observes.",
                       number(brake.noticed));
  families.one_gauge("bloomgate_suspended_senders", "Entries of senders who are suspended.",
                     number(brake.suspended.suspended));
  families.one_counter("bloomgate_suspensions_total", "Entries that this daemon has suspended.",
                       number(brake.suspended.suspensions));
}

// Each rule has its series, even while it finds nothing: an alert for a missing series would never fire.
void add_needs_action(Families& families, const Monitor& monitor) {
  const std::vector<HealthFinding> findings = needs_action(monitor);
  MetricFamily& family = families.gauge("bloomgate_needs_action",
                                        "What needs an operator's action, by the rule that finds it; 0: nothing.");
  for (const Rule& rule : health_rules()) {
    Families::put(family, {label("rule", rule.name), label("severity", severity_name(rule.severity))},
                  number(static_cast<std::uint64_t>(std::ranges::count(findings, rule.name, &HealthFinding::rule))));
  }
}

}  // namespace

std::string metrics_text(const Monitor& monitor) {
  Families families;
  add_messages(families, monitor.tally());
  add_signatures(families, monitor.tally());
  add_key_lookups(families, monitor.tally());
  add_refused_posts(families, monitor.tally());
  add_confirmations(families, monitor.tally());
  add_deep_checks(families, monitor.tally());
  add_samples(families, monitor.tally());
  add_lists(families, monitor);
  add_learning(families, monitor.learning());
  add_brake(families, monitor.brake());
  add_service(families, monitor);
  add_needs_action(families, monitor);
  return families.text();
}

}  // namespace bloomgate
