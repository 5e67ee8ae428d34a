// Holds the builder's fast paths, for addresses and for pairs, against the canonicaliser: whatever lines they accept,
// they give the very same keys, and they stop at the start of a line.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "filter/address/address.hpp"
#include "filter/address/plain_line.hpp"
#include "filter/domains/sender_domain.hpp"

namespace {

using namespace bloomgate;

template <typename Lines>
void check(const std::string& readable, std::size_t size, PlainLines::Registers registers, EntryKind kind) {
  const char* const end = readable.data() + size;
  Lines lines(registers);
  const char* at = readable.data();
  while (at < end) {
    const char* const stop = lines.read(at, end);
    for (const PlainKey& key : lines.keys()) {
      const auto rest = std::string_view(at, static_cast<std::size_t>(stop - at));
      const std::size_t line_end = rest.find('\n');
      if (line_end == std::string_view::npos) std::abort();
      const Entry entry = canonicalize_list_line(rest.substr(0, line_end + 1));
      if (entry.kind() != kind || entry.key() != key.text()) std::abort();
      if (key.domain() != sender_domain_of(key.text())) std::abort();
      at += line_end + 1;
    }
    if (at != stop) std::abort();
    // The line that it left alone, as the builder does.
    const std::size_t line_end = std::string_view(at, static_cast<std::size_t>(end - at)).find('\n');
    if (line_end == std::string_view::npos) break;
    at += line_end + 1;
  }
}

void check_both(const std::string& readable, std::size_t size, PlainLines::Registers registers) {
  check<PlainLines>(readable, size, registers, EntryKind::address);
  check<PlainPairLines>(readable, size, registers, EntryKind::pair);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  // Exactly as much as may be read, so that AddressSanitizer sees a byte more; and there are lines behind the end.
  std::string readable(reinterpret_cast<const char*>(data), size);
  for (std::size_t i = 0; i < PlainLines::kReadable; ++i) readable += "@\n"[i % 2];
  using enum PlainLines::Registers;
  for (const auto registers : {of_128_bits, of_256_bits, of_512_bits}) {
    if (PlainLines::has(registers)) check_both(readable, size, registers);
  }
  return 0;
}
