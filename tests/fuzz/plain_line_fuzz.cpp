// Holds the builder's fast path against the canonicaliser: whatever it accepts, it gives the very same key and length.
#include <array>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>

#include "filter/address.hpp"
#include "filter/plain_line.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace bloomgate;
  // Exactly as much as may be read, so that AddressSanitizer sees a byte more.
  std::string line(reinterpret_cast<const char*>(data), size);
  line.resize(std::max(size, kPlainLineReadable), 'x');
  std::array<char, kPlainLineReadable> buffer;
  const PlainLine plain = read_plain_line(line.data(), buffer.data());
  if (plain.line_bytes == 0) return 0;
  if (plain.line_bytes != line.find('\n') + 1) std::abort();
  const Entry entry = canonicalize_line(std::string_view(line).substr(0, plain.line_bytes));
  if (entry.kind() != EntryKind::address || entry.key() != plain.key) std::abort();
  return 0;
}
