#include "filter/foreign/written_list.hpp"

#include <sodium.h>

#include <array>
#include <utility>

namespace bloomgate {
namespace {

constexpr std::string_view kLastWords = "# End. Checksum: ";

std::string last_line(std::string_view text) {
  std::array<unsigned char, crypto_generichash_BYTES_MIN> hash;
  crypto_generichash(hash.data(), hash.size(), reinterpret_cast<const unsigned char*>(text.data()), text.size(),
                     nullptr, 0);
  std::array<char, 2 * hash.size() + 1> hex;
  sodium_bin2hex(hex.data(), hex.size(), hash.data(), hash.size());
  return std::string(kLastWords) + hex.data() + '\n';
}

}  // namespace

std::string with_checksum(std::string text) {
  const std::string last = last_line(text);
  return std::move(text) + last;
}

bool is_as_written(std::string_view text) {
  const std::size_t last = text.rfind(kLastWords);
  return last != std::string_view::npos && text.substr(last) == last_line(text.substr(0, last));
}

}  // namespace bloomgate
