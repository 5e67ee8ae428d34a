#include "filter/file/filter_writer.hpp"

namespace bloomgate {

FilterWriter::FilterWriter(const std::string& path, const FilterHeader& header) : file_(path, sections_of(header)) {}

void FilterWriter::commit(const FilterHeader& header, unsigned threads, const KeepOld& keep_old, const SecretKey* key) {
  file_.complete(
      sections_of(header),
      [&](const Sections& sections, std::span<std::byte, kHeaderBytes> out) { encode_header(header, sections, out); },
      threads);
  if (key != nullptr) file_.sign(*key, threads);
  file_.publish(keep_old);
}

}  // namespace bloomgate
