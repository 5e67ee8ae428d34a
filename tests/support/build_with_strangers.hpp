// Filters with excluded senders, for tests.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "filter/engine/known_strangers.hpp"
#include "tests/support/filter_files.hpp"

namespace bloomgate::test {

// The addresses of those list lines, settled; the others are left out, and so are hashes out of the range.
inline std::unique_ptr<KnownStrangers> strangers_of(const BuildOptions& options, const std::vector<std::string>& lines,
                                                    HashRange range = {}) {
  constexpr std::uint64_t kMemory = std::uint64_t{64} << 20;
  auto strangers = std::make_unique<KnownStrangers>(shape_of(options), options.threads, kMemory, range);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const Entry entry = canonicalize_list_line(lines[i], options.profile);
    if (!goes_into_bits(entry.kind())) continue;
    strangers->lane(static_cast<unsigned>(i % options.threads)).add(entry.key());
  }
  for (unsigned i = 0; i < options.threads; ++i) strangers->lane(i).settle();
  strangers->settle();
  return strangers;
}

// As build_filter(), with the excluded senders of `not_lines`.
inline FilterHeader build_with_strangers(const std::string& path, const std::vector<std::string>& lines,
                                         const std::vector<std::string>& not_lines, const BuildOptions& options) {
  const auto strangers = strangers_of(options, not_lines);
  FilterBuilder builder(options);
  builder.set_strangers(*strangers, [&] {
    for (const std::string& line : not_lines) {
      const Entry entry = canonicalize_list_line(line, options.profile);
      if (entry.is_key()) strangers->entry_of(entry.kind(), entry.key());
    }
  });
  for (const std::string& line : lines) {
    const Entry entry = canonicalize_list_line(line, options.profile);
    if (entry.is_key()) builder.add(entry);
  }
  return builder.write(path, kNeverStop);
}

}  // namespace bloomgate::test
