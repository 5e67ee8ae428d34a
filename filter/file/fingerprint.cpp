#include "filter/file/fingerprint.hpp"

#include <array>
#include <cstdio>

#include "filter/base/little_endian.hpp"

namespace bloomgate {

std::string fingerprint_of(const MappedFilter& filter) {
  std::array<std::byte, kHeaderBytes> header;
  encode_header(filter.header(), filter.sections(), header);
  std::array<char, 17> text;
  const auto number = load_little_endian<std::uint64_t>(header.data() + header.size() - sizeof(std::uint64_t));
  std::snprintf(text.data(), text.size(), "%016llx", static_cast<unsigned long long>(number));
  return text.data();
}

}  // namespace bloomgate
