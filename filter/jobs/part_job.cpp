#include "filter/jobs/part_job.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <span>
#include <utility>

#include "filter/base/number_text.hpp"
#include "filter/base/stop_check.hpp"
#include "filter/base/usage_error.hpp"
#include "filter/file/output_check.hpp"
#include "filter/gather/gathered_entries.hpp"
#include "filter/ingest/dated_lists.hpp"
#include "filter/ingest/except_list.hpp"
#include "filter/ingest/input_files.hpp"
#include "filter/ingest/reject_log.hpp"
#include "filter/inputs/add_entries.hpp"
#include "filter/inputs/open_lists.hpp"
#include "filter/store/store_writer.hpp"
#include "filter/system/available_memory.hpp"
#include "filter/system/file_io.hpp"
#include "filter/system/file_paths.hpp"

namespace bloomgate {
namespace {

constexpr const char* kStandardInput = "-";
constexpr std::uint64_t kMemoryByDefault = std::uint64_t{256} << 20;

void require_number(const PartRequest& request) {
  if (request.parts == 0 || request.parts > StorePart::kMost) {
    throw UsageError("a list is read in 1 to " + std::to_string(StorePart::kMost) + " parts, not in " +
                     std::to_string(request.parts));
  }
  if (request.index >= request.parts) {
    throw UsageError("there is no part " + std::to_string(request.index) + " of " + std::to_string(request.parts) +
                     ": they are counted from 0 on");
  }
  if (request.parts == 1 || !request.has_local_lists || !request.run.empty()) return;
  throw UsageError("with " + choice_names().local_lists + ", give " + choice_names().run +
                   ", too: nothing else tells the parts of one day from those of another");
}

void refuse_to_overwrite(const PartRequest& request) {
  for (const std::vector<std::string>* lists : {&request.inputs, &request.exceptions}) {
    for (const std::string& list : *lists) {
      const ChoiceNames& names = choice_names();
      if (is_same_file(list, request.output)) throw UsageError(names.output + " would overwrite the list " + list);
      if (is_same_file(list, request.reject_file)) {
        throw UsageError(names.reject_file + " would overwrite the list " + list);
      }
    }
  }
}

void require_one_standard_input(const PartRequest& request) {
  if (std::ranges::count(request.inputs, kStandardInput) + std::ranges::count(request.exceptions, kStandardInput) < 2) {
    return;
  }
  throw UsageError("standard input, -, can be one list only");
}

// Of several jobs, one would read it, and the others would wait for nothing, or lose what they were sent.
void require_files(const PartRequest& request, const OpenLists& lists) {
  if (request.parts == 1 || request.has_local_lists) return;
  for (std::size_t input = 0; input < request.inputs.size(); ++input) {
    if (request.inputs[input] != kStandardInput || lists.blocks.in_parts(input)) continue;
    throw UsageError("standard input, -, cannot be read in " + std::to_string(request.parts) +
                     " parts: name a file, or give " + choice_names().local_lists + " for what only this job is sent");
  }
}

// A hash of pieces from all over the file: most changes that keep its size show.
KeyHash sample_of(const std::string& path, std::uint64_t file_bytes) {
  constexpr std::uint64_t kPieceBytes = 4096;
  const std::uint64_t pieces = std::clamp<std::uint64_t>(file_bytes / kPieceBytes, 1, 16);
  const std::uint64_t bytes = std::min(file_bytes, kPieceBytes);
  struct stat status = {};
  const FileDescriptor file = open_regular_file(path, "a list", status);
  std::string sample;
  std::array<std::byte, kPieceBytes> piece;
  for (std::uint64_t i = 0; i < pieces; ++i) {
    const std::uint64_t offset = i == 0 ? 0 : (file_bytes - bytes) / (pieces - 1) * i;
    if (const int error = read_at(file.get(), std::span(piece).first(bytes), offset); error != 0) {
      throw system_error(ErrorCode::cannot_read, "read", path, error);
    }
    sample.append(reinterpret_cast<const char*>(piece.data()), bytes);
  }
  return hash_key(sample, 0, HashFamily::xxh3);
}

// Names, sizes and samples. The names are without folders, since each job may see these under another path.
std::string seen_of(const PartRequest& request, const OpenLists& lists) {
  std::string seen;
  for (std::size_t input = 0; input < lists.blocks.input_count(); ++input) {
    const std::uint64_t bytes = lists.blocks.file_bytes(input);
    seen += std::filesystem::path(lists.blocks.name(input)).filename().string() + '\n' + std::to_string(bytes) + '\n';
    if (bytes == 0 || request.inputs[input] == kStandardInput) continue;
    seen += std::to_string(sample_of(request.inputs[input], bytes)) + '\n';
  }
  return seen;
}

// The common properties of the parts of one run, apart from how they make hashes.
std::uint64_t run_of(const PartRequest& request, const OpenLists& lists, const ExceptList& exceptions) {
  KeyHash left_out = 0;  // the same in any order
  for (const std::string& key : exceptions.keys()) left_out += hash_key(key, 0, HashFamily::xxh3);
  const std::string text = request.run + '\0' + request.format + '\0' +
                           (request.options.sender_domains ? "domains" : "") + '\0' + std::to_string(left_out) + '\0' +
                           (request.has_local_lists ? "local lists" : seen_of(request, lists));
  return hash_key(text, 0, HashFamily::xxh3);
}

class Part {
 public:
  Part(const PartRequest& request, const StoreShape& shape)
      : request_(request),
        threads_(request.options.threads),
        entries_(shape, threads_, request.options.memory_bytes, request.options.scratch_folder,
                 request.options.sender_domains),
        shape_(shape) {}

  GatheredEntries& entries() noexcept { return entries_; }

  PartResult write(StorePart part, const std::atomic<bool>& stop) {
    std::uint64_t addresses = 0;
    std::uint64_t domains = 0;
    entries_.domains().for_each_once(threads_, [&](std::span<const KeyHash> hashes) { domains += hashes.size(); });
    GatheredDomains* const of_senders = entries_.sender_domains();
    const std::uint64_t sender_domains = of_senders == nullptr ? 0 : of_senders->unite(threads_).hashes;
    StoreWriter store(request_.output, shape_, entries_.added(), domains, threads_, sender_domains);
    const auto until_stopped = [&](const auto& add) {
      return [&stop, &add](std::span<const KeyHash> hashes) {
        check_stop(stop);
        add(hashes);
      };
    };
    const auto add = [&](std::span<const KeyHash> hashes) {
      store.add(hashes);
      addresses += hashes.size();
    };
    const auto add_domains = [&](std::span<const KeyHash> hashes) { store.add_domains(hashes); };
    const auto add_senders = [&](std::span<const KeyHash> hashes) { store.add_sender_domains(hashes); };
    entries_.addresses().for_each_once(threads_, until_stopped(add));
    entries_.domains().for_each_once(threads_, until_stopped(add_domains));
    if (of_senders != nullptr) of_senders->for_each_hash(threads_, until_stopped(add_senders));
    store.set_kinds(entries_.kinds());
    part.repeated = entries_.added() - addresses;
    store.set_part(part);
    store.complete();
    check_stop(stop);
    // Not staged under a name that another attempt at the same part would also use.
    store.publish();
    return {.output = request_.output,
            .header = store.header(),
            .file_bytes = store.file_bytes(),
            .spilled_bytes = entries_.spilled_bytes()};
  }

 private:
  const PartRequest& request_;
  unsigned threads_;
  GatheredEntries entries_;
  StoreShape shape_;
};

}  // namespace

PartResult make_part(PartRequest request, JobObserver& observer, const std::atomic<bool>& stop) {
  const auto start = std::chrono::steady_clock::now();
  require_number(request);
  require_one_standard_input(request);
  request.inputs = list_files(request.inputs);
  request.complete(request.inputs, request.exceptions);
  if (request.newest) request.inputs = newest_lists(std::move(request.inputs), *request.newest, today());
  refuse_to_overwrite(request);
  request.options.memory_bytes =
      request.memory_bytes.value_or(std::min<std::uint64_t>(kMemoryByDefault, available_memory() / 4));
  OpenLists lists(request.inputs, request.format, stop);
  require_files(request, lists);
  const ObservedWork work(observer, [&lists] { return lists.state(); });
  const auto show = observer.warns();
  RejectLog rejects(request.reject_file, names_of(lists.blocks), show);
  if (!request.has_local_lists) {
    rejects.count_from([&lists](std::size_t input) { return lists.blocks.lines_before_share(input); });
    lists.blocks.take_share(request.index, request.parts);
  }
  const BroadDomains broad_domains = usual_broad_domains(request.broad_files, show);
  const ExceptList exceptions(list_files(request.exceptions), request.options.profile, stop);
  const StorePart part = {.index = request.index, .parts = request.parts, .run = run_of(request, lists, exceptions)};
  require_can_write(request.output, 0, kStoreMagic);
  const StoreShape shape = {request.options.hash_family, request.store_seed, request.options.profile};
  Part made(request, shape);
  add_entries(lists.blocks, *lists.format, made.entries(), request.options, exceptions, broad_domains, rejects);
  require_sent(lists.blocks, "no part was made");
  rejects.show_kinds();
  if (auto refusal = refusal_of_lines(request, LinesRead::of(rejects, *lists.format), "no part was made")) {
    rejects.keep();
    throw BloomgateError(std::move(*refusal));
  }
  PartResult result = made.write(part, stop);
  rejects.keep();
  result.rejected = rejects.count();
  result.excepted = rejects.excepted();
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return result;
}

}  // namespace bloomgate
