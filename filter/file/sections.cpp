#include "filter/file/sections.hpp"

#include <algorithm>
#include <limits>
#include <string>

#include "filter/base/error.hpp"

namespace bloomgate {

std::string_view section_name(SectionKind kind) noexcept {
  switch (kind) {
    case SectionKind::bits:
      return "bits";
    case SectionKind::domains:
    case SectionKind::stored_domains:
      return "domains";
    case SectionKind::excluded:
      return "excluded";
    case SectionKind::pages:
      return "pages";
    case SectionKind::index:
      return "index";
    case SectionKind::sender_domains:
    case SectionKind::stored_sender_domains:
      return "sender-domains";
  }
  return "unknown";
}

void place_sections(Sections& sections, std::uint64_t begin) {
  // Less than off_t can count. The sum of such a number and a table, which is far smaller, does not wrap.
  constexpr std::uint64_t kLargestFile = std::numeric_limits<std::int64_t>::max();
  std::uint64_t end = begin;
  for (Section& section : sections) {
    section.offset = (end + kSectionAlignment - 1) / kSectionAlignment * kSectionAlignment;
    const bool fits = section.offset <= kLargestFile && section.bytes <= kLargestFile - section.offset &&
                      section.end() <= kLargestFile;
    if (!fits) {
      throw BloomgateError(ErrorCode::size_overflow, "a section " + std::string(section_name(section.kind)) + " of " +
                                                         std::to_string(section.bytes) + " bytes at offset " +
                                                         std::to_string(section.offset) +
                                                         " is larger than a file can be");
    }
    end = section.end();
  }
}

const Section* find_section(const Sections& sections, SectionKind kind) noexcept {
  const auto found = std::ranges::find(sections, kind, &Section::kind);
  return found == sections.end() ? nullptr : &*found;
}

}  // namespace bloomgate
