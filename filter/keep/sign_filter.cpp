#include "filter/keep/sign_filter.hpp"

#include <algorithm>

#include "filter/base/error.hpp"
#include "filter/base/parallel.hpp"
#include "filter/file/filter_writer.hpp"
#include "filter/file/mapped_filter.hpp"
#include "filter/system/file_paths.hpp"

namespace bloomgate {
namespace {

bool is_signed_by(const MappedFilter& filter, const SecretKey& key, unsigned threads,
                  const std::function<void(std::uint64_t)>& progress) {
  try {
    filter.verify_body(threads, progress, {{key.public_key()}});
    return true;
  } catch (const BloomgateError& error) {
    if (error.code() != ErrorCode::bad_signature) throw;
    return false;
  }
}

void copy_section(const MappedFilter& filter, const Section& section, FilterWriter& writer, unsigned threads) {
  const std::span<const std::byte> bytes = filter.bytes_of(section);
  for_each_parallel(threads, section.chunk_count(), [&](std::size_t index) {
    const std::uint64_t begin = index * kChecksumChunkBytes;
    writer.write(section.kind, begin, bytes.subspan(begin, std::min(kChecksumChunkBytes, bytes.size() - begin)));
  });
}

}  // namespace

Signing sign_filter(const std::string& path, const std::string& output, const SecretKey& key, unsigned threads,
                    const std::function<void(std::uint64_t)>& progress) {
  const MappedFilter filter(path);
  const bool is_new = !filter.signature() || filter.signature()->signer != key.public_key();
  if (is_new || !is_signed_by(filter, key, threads, progress)) {
    filter.verify_body(threads, progress);  // a damaged filter must not be signed
  } else if (is_same_file(path, output)) {
    return Signing::was_there;
  }
  FilterWriter writer(output, filter.header());
  for (const Section& section : filter.sections()) copy_section(filter, section, writer, threads);
  filter.require_whole();
  writer.commit(filter.header(), threads, {}, &key);
  return Signing::done;
}

}  // namespace bloomgate
