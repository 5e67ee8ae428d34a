#include "milter/dkim/key_record.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "filter/address/structured_text.hpp"
#include "filter/base/ascii.hpp"
#include "filter/base/public_key.hpp"
#include "milter/fields/tag_list.hpp"
#include "milter/names/resolver.hpp"

namespace bloomgate {
namespace {

using Bytes = std::vector<std::uint8_t>;

constexpr std::uint8_t kSequence = 0x30, kInteger = 0x02, kBitString = 0x03;  // X.690, DER
constexpr std::size_t kLongForm = 0x80;

std::optional<Bytes> decoded(const std::string& text) {
  const auto padding = static_cast<std::size_t>(std::count(text.begin(), text.end(), '='));
  if (text.size() % 4 != 0 || padding > 2) return std::nullopt;
  Bytes bytes(text.size() / 4 * 3 - padding);
  return read_base64(text, bytes) ? std::optional(std::move(bytes)) : std::nullopt;
}

// The content of the element in `bytes`, without its tag and length; nothing if it is not a sequence. No key is longer
// than 64 KiB.
std::optional<Bytes> sequence_content(const Bytes& bytes) {
  if (bytes.size() < 2 || bytes[0] != kSequence) return std::nullopt;
  std::size_t length = bytes[1];
  std::size_t head = 2;
  if (length >= kLongForm) {
    const std::size_t digits = length - kLongForm;
    if (digits == 0 || digits > 2 || bytes.size() < head + digits) return std::nullopt;
    length = 0;
    for (std::size_t i = 0; i < digits; ++i) length = length << 8 | bytes[head + i];
    head += digits;
  }
  if (length != bytes.size() - head) return std::nullopt;
  return Bytes(bytes.begin() + static_cast<std::ptrdiff_t>(head), bytes.end());
}

Bytes element(std::uint8_t tag, const Bytes& content) {
  Bytes bytes = {tag};
  const std::size_t length = content.size();
  if (length > 0xff) {
    bytes.insert(bytes.end(), {0x82, static_cast<std::uint8_t>(length >> 8 & 0xff)});
  } else if (length >= kLongForm) {
    bytes.push_back(0x81);
  }
  bytes.push_back(static_cast<std::uint8_t>(length & 0xff));
  bytes.insert(bytes.end(), content.begin(), content.end());
  return bytes;
}

// A SubjectPublicKeyInfo (RFC 5280 section 4.1) around an RSAPublicKey (RFC 8017 appendix A.1.1). Nothing if the key is
// not an RSAPublicKey: that begins with an integer, and the content of a SubjectPublicKeyInfo with a sequence.
std::optional<std::string> wrapped(const std::string& key) {
  const std::optional<Bytes> bytes = decoded(key);
  if (!bytes) return std::nullopt;
  const std::optional<Bytes> content = sequence_content(*bytes);
  if (!content || content->empty() || content->front() != kInteger) return std::nullopt;
  Bytes bits = {0};  // unused bits
  bits.insert(bits.end(), bytes->begin(), bytes->end());
  // rsaEncryption, without parameters
  Bytes all = {kSequence, 0x0d, 0x06, 0x09, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01, 0x01, 0x05, 0x00};
  const Bytes last = element(kBitString, bits);
  all.insert(all.end(), last.begin(), last.end());
  return base64_of(element(kSequence, all));
}

bool has_flag(std::string_view flags, std::string_view flag) {
  while (!flags.empty()) {
    const std::size_t end = std::min(flags.find(':'), flags.size());
    if (ascii::equal_ignoring_case(without_folding_space(flags.substr(0, end)), flag)) return true;
    flags.remove_prefix(std::min(end + 1, flags.size()));
  }
  return false;
}

bool has_right_version(const TagList& tags) noexcept {
  const auto version = tags.find("v");
  return !version || (*version == "DKIM1" && ascii::equal_ignoring_case(tags.tags().front().name, "v"));
}

// `rsa` for `rsa-sha256`.
bool is_kind_of(std::string_view algorithm, std::string_view kind) noexcept {
  return ascii::equal_ignoring_case(algorithm.substr(0, algorithm.find('-')), kind);
}

}  // namespace

ReadKey read_key_record(std::string_view record, std::string_view algorithm) {
  using Outcome = SignatureOutcome;
  const TagList tags(record);
  const auto key = tags.find("p");
  if (!tags.is_valid() || !key || !has_right_version(tags)) return {.outcome = Outcome::key_malformed};
  if (key->empty()) return {.outcome = Outcome::key_revoked};
  const std::string_view kind = tags.find("k").value_or("rsa");
  if (!is_kind_of(algorithm, kind)) return {.outcome = Outcome::key_not_for_this};
  if (has_flag(tags.find("t").value_or(""), "y")) return {.outcome = Outcome::key_in_test_mode};
  ReadKey read = {.outcome = Outcome::pass, .record = std::string(record)};
  if (!ascii::equal_ignoring_case(kind, "rsa")) return read;
  if (const auto whole = wrapped(without_any_space(*key))) {
    read.record.replace(static_cast<std::size_t>(key->data() - record.data()), key->size(), *whole);
    if (read.record.size() > kMaxTxtBytes) return {.outcome = Outcome::key_too_long};
  }
  return read;
}

}  // namespace bloomgate
