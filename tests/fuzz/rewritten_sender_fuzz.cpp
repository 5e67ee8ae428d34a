// Whatever bytes come as an envelope sender: what is undone is a shorter address made of the sender's own bytes, and
// its domain is another one only where a trusted forwarder says so.
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "milter/fields/rewritten_sender.hpp"
#include "tests/fuzz/require.hpp"

using bloomgate::test::require;

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer's name
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace bloomgate;
  static const std::vector<std::string> trusted = {"forwarder.example", "b.example"};
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const RewrittenSender sender = undo_rewriting(input, trusted);
  const std::string_view path = sender.path();
  if (!sender.is_undone()) {
    require(path.empty() && sender.layers().empty() && sender.sending_domain().empty(), "nothing was undone", path);
    return 0;
  }
  const std::size_t at = path.find('@');
  require(at != 0 && at != std::string_view::npos && path.rfind('@') == at, "there is one at sign", path);
  require(path.size() < input.size() && path.size() <= kMaxAddressBytes, "it is shorter", path);
  require(path.find_first_of("<>\" \t\r\n\\,:;()[") > at, "it is one address and nothing else", path);
  require(input.find(path.substr(0, at)) != std::string_view::npos, "the local part is the sender's", path);
  require(input.find(path.substr(at + 1)) != std::string_view::npos, "the domain is the sender's", path);
  const bool from_trusted = sender.sending_domain() == trusted[0] || sender.sending_domain() == trusted[1];
  const bool domain_stays = input.find(path.substr(at)) != std::string_view::npos;
  require(sender.is_forwarded() ? from_trusted : domain_stays, "only the trusted change the domain", path);
  require(!undo_rewriting(input, {}).is_forwarded(), "nobody is trusted by default", path);
  const Entry entry = canonicalize_path(path);
  require(entry.kind() != EntryKind::null_sender, "a sender remains", path);
  return 0;
}
