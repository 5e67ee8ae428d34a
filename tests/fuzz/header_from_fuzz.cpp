// Whatever bytes come as a From field: who it is from is the same on each reading, and nobody else can be meant.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <string>
#include <string_view>
#include <vector>

#include "filter/address/address.hpp"
#include "filter/address/structured_text.hpp"
#include "milter/fields/header_from.hpp"

namespace bloomgate {
namespace {

constexpr AddressProfile kKeep{.keep_local_part_case = true};

void require(bool holds, const char* what, const HeaderFrom& from) {
  if (holds) return;
  std::cerr << "does not hold: " << what << "\nkind: " << static_cast<int>(from.kind) << "\naddress: " << from.address
            << '\n';
  std::abort();
}

HeaderFrom parse(const std::string& field) {
  return parse_header_from(std::vector<std::string_view>{field});
}

std::string key_of(std::string_view address) {
  return std::string(canonicalize_path(address, kKeep).key());
}

int unquoted_at_signs(std::string_view address) {
  int count = 0;
  bool quoted = false;
  for (std::size_t at = 0; at < address.size(); ++at) {
    if (quoted && address[at] == '\\') {
      ++at;
    } else if (address[at] == '"') {
      quoted = !quoted;
    } else if (address[at] == '@' && !quoted) {
      ++count;
    }
  }
  return count;
}

void check_mailbox(const std::string& field, const HeaderFrom& from) {
  require(unfold(field)->find(from.address) != std::string::npos, "the address stands in the field", from);
  require(!key_of(from.address).empty(), "the address is one for the canonicaliser", from);
  const std::size_t begin = from.address.find("=?");
  const bool is_encoded = begin != std::string::npos && from.address.find("?=", begin + 2) != std::string::npos;
  require(!is_encoded, "no encoded word is in the address", from);
  const bool routed = from.address.starts_with('@');
  require(routed || unquoted_at_signs(from.address) == 1, "the address has one at sign", from);

  if (from.address.size() > kMaxHeaderFromBytes / 2) return;
  require(parse("X <" + from.address + ">") == from, "the address in brackets is from the same", from);
  require(parse(field + " (x)") == from, "a comment behind it changes nothing", from);
  require(parse("(x) \"X\n Y\" <" + from.address + "> (x)") == from, "words and comments change nothing", from);
  if (!routed) require(parse(from.address) == from, "the address alone is from the same", from);

  constexpr auto kOne = HeaderFromKind::one_mailbox;
  require(parse(field + ", other@example.net").kind != kOne, "a second mailbox makes two", from);
  require(parse("other@example.net, " + field).kind != kOne, "a mailbox before it makes two", from);
  require(parse("Friends: " + field + ";").kind != kOne, "a group is nobody", from);
  require(parse(field + " trailing").kind != kOne, "nothing may follow", from);
  require(parse(field + "\nTo: other@example.net").kind != kOne, "a line end is no space", from);
  require(parse(field + std::string(1, '\0')).kind != kOne, "a NUL is no space", from);
  if (key_of(from.address) == "other@example.net") return;
  require(parse(field + " <other@example.net>").kind != kOne, "two addresses are not one", from);
}

void check_input(const std::string& field) {
  const HeaderFrom from = parse(field);
  require(parse(field) == from, "the same field is from the same", from);
  require((from.kind == HeaderFromKind::one_mailbox) == !from.address.empty(), "one mailbox has an address", from);
  require(from.kind != HeaderFromKind::absent && from.kind != HeaderFromKind::several_fields, "one field is one", from);
  const std::vector<std::string_view> twice = {field, field};
  require(parse_header_from(twice).kind == HeaderFromKind::several_fields, "two fields are two", from);
  if (from.kind == HeaderFromKind::one_mailbox) check_mailbox(field, from);
}

}  // namespace
}  // namespace bloomgate

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer's name
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  bloomgate::check_input({reinterpret_cast<const char*>(data), size});
  return 0;
}
