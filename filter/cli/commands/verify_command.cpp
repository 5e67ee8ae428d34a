// `bloomgate verify`: checks a filter file, and that it holds the lists it was built from.
#include <sysexits.h>

#include <iostream>

#include "filter/base/error.hpp"
#include "filter/base/json.hpp"
#include "filter/base/number_text.hpp"
#include "filter/cli/commands/commands.hpp"
#include "filter/cli/commands/report_text.hpp"
#include "filter/cli/job_progress.hpp"
#include "filter/cli/list_options.hpp"
#include "filter/cli/stop_signal.hpp"
#include "filter/file/header_fields.hpp"
#include "filter/jobs/verify_job.hpp"
#include "filter/keep/layer_folder.hpp"

namespace bloomgate::cli {
namespace {

namespace po = boost::program_options;

// "the sections bits, domains".
std::string sections_text(const SoundFilter& filter) {
  std::string text = filter.sections.size() == 1 ? "the section" : "the sections";
  for (const SectionKind& kind : filter.sections) {
    text.append(&kind == &filter.sections.front() ? " " : ", ").append(section_name(kind));
  }
  return text;
}

void print_rate(const MeasuredRate& rate) {
  std::cout << "FPR        " << format_rate(rate.rate()) << " of " << format_count(rate.probes)
            << " random addresses that are not listed; expected from the fill: " << format_rate(rate.expected) << " ("
            << format_decimal(rate.deviations, 1) << " standard deviations away)\n";
  if (rate.confirmed) {
    std::cout << "confirmed  " << format_count(*rate.confirmed) << " of these " << format_count(rate.found) << '\n';
  }
  if (rate.other_domains) {
    std::cout << "unlisted   " << format_count(*rate.other_domains) << " of these " << format_count(rate.probes)
              << ", whose domain has no entry, are found\n";
  }
}

void print_result(const VerifyResult& result, bool signers_are_checked) {
  for (const SoundFilter& filter : result.filters) {
    std::cout << "sound      " << filter.path << ": header, tables and " << format_bytes(filter.body_bytes) << " in "
              << sections_text(filter) << " match their checksums\n";
    if (!filter.signer) continue;
    std::cout << "signed     by " << filter.signer->text()
              << (signers_are_checked ? "\n"
                                      : ", which was not checked: give the keys that you trust with --trusted-key\n");
  }
  if (result.store) {
    std::cout << "sound      " << result.store->path << ": a store of "
              << format_counted(result.store->addresses, "address", "addresses") << " and "
              << format_counted(result.store->domains, "domain entry", "domain entries")
              << "; its pages match their checksums and are in order\n";
  }
  if (result.sender_domains) {
    std::cout << "senders    their " << format_counted(*result.sender_domains, "domain is that", "domains are those")
              << " of the store\n";
  }
  if (result.members) {
    std::cout << "found      " << format_counted(result.members->found, "entry", "entries")
              << " of the lists\nmissing    " << format_count(result.members->missing) << "\nrejected   "
              << format_counted(result.members->rejected, "line that is not an entry", "lines that are not entries")
              << '\n';
  }
  if (result.rate) print_rate(*result.rate);
}

Json json_of(const SoundFilter& filter) {
  Json sections = Json::array();
  for (const SectionKind kind : filter.sections) sections.push_back(section_name(kind));
  return {{"file", filter.path},
          {"body_bytes", filter.body_bytes},
          {"sections", sections},
          {"signer", filter.signer ? Json(filter.signer->text()) : Json(nullptr)}};
}

Json json_of(const MeasuredRate& rate) {
  return {{"probes", rate.probes},
          {"found", rate.found},
          {"fpr", rate.rate()},
          {"fpr_expected", rate.expected},
          {"deviations", rate.deviations},
          {"agrees", rate.agrees()},
          {"confirmed", rate.confirmed ? Json(*rate.confirmed) : Json(nullptr)},
          {"found_at_other_domains", rate.other_domains ? Json(*rate.other_domains) : Json(nullptr)}};
}

Json json_of(const VerifyResult& result, bool signers_are_checked) {
  Json json = {{"filters", Json::array()},
               {"signers_checked", signers_are_checked},
               {"store", nullptr},
               {"sender_domains", result.sender_domains ? Json(*result.sender_domains) : Json(nullptr)},
               {"lists", nullptr},
               {"random_addresses", result.rate ? json_of(*result.rate) : Json(nullptr)}};
  for (const SoundFilter& filter : result.filters) json["filters"].push_back(json_of(filter));
  if (const auto& store = result.store) {
    json["store"] = {{"file", store->path}, {"addresses", store->addresses}, {"domain_entries", store->domains}};
  }
  if (const auto& members = result.members) {
    json["lists"] = {{"found", members->found}, {"missing", members->missing}, {"rejected", members->rejected}};
  }
  return json;
}

int status_of(const VerifyResult& result) {
  if (result.members && result.members->missing != 0) {
    std::cerr << "the filter does not hold these lists; build it again from them\n";
    return 1;
  }
  if (result.rate && !result.rate->agrees()) {
    std::cerr << "the false-positive rate is not what the fill promises; build the file again and report a bug\n";
    return EX_DATAERR;
  }
  return EX_OK;
}

TrustedKeys trusted_keys(const std::vector<std::string>& texts) {
  TrustedKeys keys;
  for (const std::string& text : texts) {
    const std::optional<PublicKey> key = PublicKey::parse(text);
    if (!key) throw UsageError("--trusted-key: " + public_key_fault(text));
    keys.push_back(*key);
  }
  return keys;
}

}  // namespace

int run_verify(const Arguments& arguments) {
  std::vector<std::string> operands;
  std::vector<std::string> inputs;
  ListOptions options;
  po::options_description visible("options");
  std::string store_path;
  std::vector<std::string> key_texts;
  bool json = false;
  visible.add_options()  //
      ("against", po::value(&inputs)->multitoken()->value_name("INPUT..."),
       "lists; every entry of them must be in the filter (- is standard input)")  //
      ("confirm", po::value(&store_path)->value_name("STORE"),
       "also check the store that was built with the filter, and look up in it what the filter finds")  //
      ("trusted-key", po::value(&key_texts)->composing()->value_name("KEY"),
       "the public key of a trusted signer: the filter, or each layer of the folder and its manifest, must have a "
       "signature of one of these; may be repeated");
  LossLimits limits;
  add_allow_rejects(limits, visible);
  add_allow_empty(limits, visible);
  options.add_to(visible);
  add_json(json, visible);
  const auto values = parse_command_line(
      arguments, visible, &operands,
      {.synopsis = "bloomgate verify FILE|FOLDER [--against INPUT...] [OPTION...]",
       .purpose = "Reads a filter, a store, or each layer of a folder, and checks every checksum. With lists, it also "
                  "checks that each entry of them is found, and counts how many of 1,000,000 unlisted addresses are "
                  "found. The exit status is 0 for a sound file, 1 if an entry is missing, and 65 if the file is "
                  "damaged, has no trusted signature, or finds more unlisted addresses than expected, or if the lists "
                  "are empty or have too many lines that are not entries.",
       .examples = "  bloomgate verify /var/lib/bloomgate/whitelist.bloom\n"
                   "  bloomgate verify whitelist.bloom --against customers.txt partners.txt\n"});
  if (!values) return EX_OK;
  const std::string& path = only_filter(operands);
  const TrustedKeys trusted = trusted_keys(key_texts);
  const unsigned threads = options.chosen_threads();
  const bool is_alone = inputs.empty() && store_path.empty();
  if (!is_alone && is_folder(path)) {
    throw UsageError("--against and --confirm go with one filter; name a layer of " + path);
  }
  if (is_store(path)) {
    if (!is_alone) throw UsageError("name the filter first, and its store with --confirm");
    if (!trusted.empty()) throw UsageError("a store has no signature: --trusted-key goes with a filter");
  }
  JobProgress progress(options.quiet);
  VerifyJob job(
      {path, trusted, store_path, inputs, options.format, threads, limits.rejects.is_lifted, limits.empty.is_lifted},
      progress, stop_flag());
  try {
    job.run();
  } catch (...) {
    if (!json) print_result(job.result(), !trusted.empty());
    throw;
  }
  const int status = status_of(job.result());
  if (json) {
    print_report(json_of(job.result(), !trusted.empty()));
  } else if (!options.quiet || status != EX_OK) {
    print_result(job.result(), !trusted.empty());
  }
  return status;
}

}  // namespace bloomgate::cli
