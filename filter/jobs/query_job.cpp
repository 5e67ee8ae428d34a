#include "filter/jobs/query_job.hpp"

#include <algorithm>
#include <utility>

#include "filter/base/ascii.hpp"
#include "filter/engine/bulk_lookup.hpp"
#include "filter/file/mapped_filter.hpp"
#include "filter/ingest/input_files.hpp"
#include "filter/ingest/look_up_entries.hpp"
#include "filter/ingest/turns.hpp"
#include "filter/inputs/confirmation.hpp"
#include "filter/inputs/count_entries.hpp"
#include "filter/inputs/open_lists.hpp"
#include "filter/keep/layer_folder.hpp"

namespace bloomgate {
namespace {

constexpr std::string_view kPairSign = " > ";

// Whether an entry is listed, and by which entry other than itself.
struct Finding {
  bool is_listed = false;
  bool is_excluded = false;
  std::string by = {};
};

}  // namespace

struct QueryJob::Answers {
  std::string text;  // of the answers that are shown
  QueryCounts counts;
};

class QueryJob::QueriedFilter {
 public:
  QueriedFilter(const std::string& path, const std::string& store_path, const QueryJob& job)
      : filter_(path), confirmation_(store_path, filter_), job_(job) {}

  const MappedFilter& filter() const noexcept { return filter_; }
  const Confirmation& confirmation() const noexcept { return confirmation_; }

  Answers answers_to(std::string_view text) const {
    const Entry entry = entry_of(text, filter_.header().shape.profile);
    Answers answers;
    if (entry.is_pair()) {
      answer(answers, entry_text(entry.key()), find_pair(entry.key(), entry.kind(), holds(entry)));
    } else if (entry.kind() == EntryKind::with_signer) {
      answer(answers, entry_text(entry.key()), find_with_signer(entry.key()));
    } else if (entry.is_key()) {
      answer(answers, entry.key(), finding_of(entry.kind(), confirmation_.find(filter_.view(), entry)));
    } else {
      answer_other(answers, entry.kind(), {reject_reason_name(entry.reason()), reject_text(entry)});
    }
    return answers;
  }

  Answers answers_of(const Block& block, const Format& format) const {
    Answers answers;
    // Enough for short answers to short lines; longer text is reallocated once or twice.
    if (job_.shown_.listed && job_.shown_.not_listed) answers.text.reserve(block.text.size() + block.text.size() / 2);
    look_up_entries(
        block, format, filter_.view(),
        [&](const LookedUp& entry) {
          if (entry.kind == EntryKind::pair || entry.kind == EntryKind::domain_pair) {
            answer(answers, entry_text(entry.key), find_pair(entry.key, entry.kind, entry.found));
          } else if (entry.kind == EntryKind::with_signer) {
            answer(answers, entry_text(entry.key), find_with_signer(entry.key));
          } else {
            answer(answers, entry.key, finding_of(entry.kind, found_by(entry)));
          }
        },
        [&](const ListLine& line, std::uint64_t, std::string_view) {
          answer_other(answers, line.entry.kind(), line.fault);
        });
    return answers;
  }

 private:
  void answer(Answers& answers, std::string_view entry, const Finding& finding) const {
    ++(finding.is_listed ? answers.counts.listed : answers.counts.not_listed);
    write(answers, {entry, finding.is_listed, finding.is_excluded, finding.by});
  }

  // A line without a key; `fault` says why.
  void answer_other(Answers& answers, EntryKind kind, const LineFault& fault) const {
    if (kind == EntryKind::blank) return;
    if (kind == EntryKind::null_sender) return answer(answers, "<>", {});
    ++answers.counts.rejected;
    write(answers, {.entry = {}, .fault = &fault});
  }

  void write(Answers& answers, const Answer& answer) const {
    if (answer.is_listed ? job_.shown_.listed : job_.shown_.not_listed) job_.write_(answer, answers.text);
  }

  static Finding finding_of(EntryKind kind, const FoundEntry& found) {
    const auto domain_entry = found.domain_entry();
    const bool is_by_domain = (kind == EntryKind::address && !domain_entry.view().empty()) ||
                              (kind == EntryKind::mailing_list && found.match == Match::mailing_list_tree);
    return {.is_listed = found.is_listed(),
            .is_excluded = found.is_excluded,
            .by = is_by_domain ? std::string(domain_entry.view()) : std::string()};
  }

  static Entry entry_of(std::string_view text, AddressProfile profile) {
    // In a list, a line that begins with '#' is a comment. In a query, `#joe@example.org` is an address like any other,
    // also in a pair.
    if (const std::size_t sign = text.find(kPairSign); text.starts_with('#') && sign != std::string_view::npos) {
      const std::string sender = "<" + std::string(text.substr(0, sign)) + ">";
      return canonicalize_pair(sender, text.substr(sign + kPairSign.size()), profile);
    }
    // For a mail server, text after an address is a parameter, and is skipped.
    const std::size_t signer = ascii::lower_case(text).rfind(ascii::trimmed_back(kSignerSign, " "));
    const bool has_signer = signer != std::string::npos;
    if (text.starts_with('#') && has_signer) {
      const std::string line = "<" + std::string(text.substr(0, signer)) + ">" + std::string(text.substr(signer));
      return canonicalize_list_line(line, profile);
    }
    const Entry line = canonicalize_list_line(text, profile);
    const bool is_of_lists = (line.is_key() && line.kind() != EntryKind::address) || text.starts_with('@') ||
                             is_mailing_list_key(text) || has_signer;
    return is_of_lists ? line : canonicalize_path(text, profile);
  }

  // Whether the filter has the key of a pair.
  bool holds(const Entry& pair) const {
    const FilterView& view = filter_.view();
    return goes_into_bits(pair.kind()) ? view.may_contain(pair.key()) : view.contains_domain(pair.key());
  }

  // If a pair is not listed itself, a wider pair may list it, or its sender may be listed for all recipients.
  Finding find_pair(std::string_view key, EntryKind kind, bool found) const {
    if (found && (!goes_into_bits(kind) || confirmation_.confirms(key))) return {.is_listed = true};
    const FilterView& view = filter_.view();
    const PairSides sides = sides_of_pair(key);
    if (std::string sender = entry_of_sender(sides.sender); !sender.empty()) {
      return {.is_listed = true, .by = std::move(sender)};
    }
    const FoundPair wider = view.find_wider_pair(sides.sender, sides.recipient);
    if (wider.is_listed()) return {.is_listed = true, .by = entry_text(wider.key.view())};
    return {.is_excluded = goes_into_bits(kind) && !found && !view.excluded().empty() && view.is_excluded(key)};
  }

  // The entry that lists the sender of a pair for all recipients; empty if there is none.
  std::string entry_of_sender(std::string_view sender) const {
    const FilterView& view = filter_.view();
    if (is_mailing_list_key(sender) || sender.starts_with('@')) {
      // A key without a local part has no tag, and is not a comment: the key is its own spelling.
      return std::string(view.find(canonicalize_list_line(sender)).domain_entry().view());
    }
    if (view.may_contain(sender) && confirmation_.confirms(sender)) return std::string(sender);
    return std::string(view.find_by_domain(sender.substr(sender.rfind('@'))).domain_entry().view());
  }

  // If an entry with a signer is not listed itself, a wider one with that signer may list it.
  Finding find_with_signer(std::string_view key) const {
    const SignerSides sides = sides_of_signer_key(key);
    const SignerKey found = filter_.view().find_with_signer(sides.entry, sides.signer);
    return {.is_listed = !found.view().empty(), .by = std::string(found.view() == key ? "" : found.view())};
  }

  // If an address is not listed itself, its domain may be.
  FoundEntry found_by(const LookedUp& entry) const {
    if (entry.kind != EntryKind::address) {
      if (entry.kind != EntryKind::mailing_list) return {.match = entry.found ? match_of(entry.kind) : Match::none};
      return find_mailing_list(entry.key, [&](std::string_view key) { return filter_.view().contains_domain(key); });
    }
    if (entry.found && confirmation_.confirms(entry.key)) return {Match::address};
    const FilterView& view = filter_.view();
    FoundEntry found = view.find_by_domain(entry.key.substr(entry.key.rfind('@')));
    found.is_excluded = !entry.found && !view.excluded().empty() && view.is_excluded(entry.key);
    return found;
  }

  MappedFilter filter_;
  Confirmation confirmation_;
  const QueryJob& job_;
};

QueryJob::QueryJob(const QueryOptions& options, WriteAnswer write, UseText use)
    : shown_(options.shown), write_(std::move(write)), use_(std::move(use)) {
  if (!is_folder(options.path)) {
    layers_.push_back(std::make_unique<QueriedFilter>(options.path, options.store_path, *this));
    return;
  }
  for (const Layer& layer : usable_layers_in(options.path)) {
    layers_.push_back(std::make_unique<QueriedFilter>(layer.path, std::string(), *this));
  }
}

QueryJob::~QueryJob() = default;

bool QueryJob::holds_pairs() const noexcept {
  return std::ranges::any_of(layers_, [](const auto& layer) { return layer->filter().view().holds_pairs(); });
}

bool QueryJob::holds_signers() const noexcept {
  return std::ranges::any_of(layers_, [](const auto& layer) { return layer->filter().view().holds_signers(); });
}

bool QueryJob::use(const QueriedFilter& filter, const Answers& answers) {
  filter.filter().require_whole();
  total_.listed += answers.counts.listed;
  total_.not_listed += answers.counts.not_listed;
  total_.rejected += answers.counts.rejected;
  return answers.text.empty() || use_(answers.text);
}

void QueryJob::look_up(std::string_view text) {
  for (const auto& layer : layers_) {
    const Answers answers = layer->answers_to(text);
    // If no layer lists it, the answer of the last one is used.
    if (answers.counts.listed == 0 && layer != layers_.back()) continue;
    use(*layer, answers);
    return;
  }
}

void QueryJob::look_up_lists(const std::vector<std::string>& lists, const std::string& format, unsigned threads,
                             JobObserver& observer, const std::atomic<bool>& stop) {
  const QueriedFilter& queried = *layers_.front();
  const FilterView& view = queried.filter().view();
  // The count looks up an address only by its own key.
  const bool counts =
      !shown_.any() && view.domains().empty() && queried.confirmation().store() == nullptr && BulkLookup::suits(view);
  OpenLists open(list_files(lists), format, stop, counts ? BlockOrder::any : BlockOrder::in_turn);
  const ObservedWork work(observer, [&] { return open.state(); });
  if (counts) {
    const EntryCounts count = count_entries(open, view, threads, PairFoundBy::sender_too);
    use(queried, {.text = {}, .counts = {count.found, count.missing, count.rejected}});
    return;
  }
  for_each_block_in_turn(
      open.blocks, *open.format, threads, [&](const Block& block) { return queried.answers_of(block, *open.format); },
      [&](const Answers& answers) { return use(queried, answers); });
}

}  // namespace bloomgate
