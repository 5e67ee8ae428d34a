#include "filter/share/shared_pairs.hpp"

#include <algorithm>
#include <charconv>

#include "filter/base/error.hpp"
#include "filter/base/little_endian.hpp"

namespace bloomgate {
namespace {

constexpr std::string_view kMagic(
    "\x89"
    "BLP\r\n\x1a\n");
constexpr std::uint32_t kVersion = 1;
// The largest number of a change or forget that LearnedFile counts.
constexpr std::uint64_t kMostNumber = std::uint64_t{1} << 62;
constexpr std::size_t kNumberDigits = 16;
constexpr std::string_view kSuffix = ".pairs";

// The offsets of the fields.
constexpr std::size_t kVersionAt = 8;
constexpr std::size_t kWholeAt = 12;  // 2 bytes
constexpr std::size_t kDayAt = 14;    // 2 bytes
constexpr std::size_t kSourceAt = 16;
constexpr std::size_t kCheckAt = 24;
constexpr std::size_t kChangeAt = 32;
constexpr std::size_t kForgetAt = 40;
constexpr std::size_t kCountAt = 48;
// In a record:
constexpr std::size_t kHashAt = 0;
constexpr std::size_t kSecondAt = 8;
constexpr std::size_t kRecordDayAt = 16;  // 2 bytes
constexpr std::size_t kKindAt = 18;       // 2 bytes
constexpr std::size_t kZeroAt = 20;       // 4 bytes

template <typename Integer>
Integer load(std::string_view bytes, std::size_t at) noexcept {
  return load_little_endian<Integer>(reinterpret_cast<const std::byte*>(bytes.data() + at));
}

template <typename Integer>
void store(char* to, Integer value) noexcept {
  store_little_endian(reinterpret_cast<std::byte*>(to), value);
}

[[noreturn]] void refuse(const std::string& path, std::uint64_t offset, const std::string& what,
                         ErrorCode code = ErrorCode::bad_input) {
  throw BloomgateError(code, path + " " + what + " at byte " + std::to_string(offset),
                       {.path = path, .offset = offset});
}

std::int64_t number_at(std::string_view bytes, std::size_t at, const std::string& path) {
  const auto number = load<std::uint64_t>(bytes, at);
  if (number > kMostNumber) refuse(path, at, "has a number out of range");
  return static_cast<std::int64_t>(number);
}

// Whether the fields that a kind does not use are zero, and those that it uses have possible values.
bool is_record(std::string_view bytes) noexcept {
  const auto second = load<std::uint64_t>(bytes, kSecondAt);
  const auto day = load<std::uint16_t>(bytes, kRecordDayAt);
  if (load<std::uint32_t>(bytes, kZeroAt) != 0) return false;
  switch (load<std::uint16_t>(bytes, kKindAt)) {
    case static_cast<std::uint16_t>(SharedKind::pair):
    case static_cast<std::uint16_t>(SharedKind::domain):
      return second == 0;
    case static_cast<std::uint16_t>(SharedKind::gone):
      return second == 0 && day == 0;
    case static_cast<std::uint16_t>(SharedKind::person):
      return second != 0 && second <= kMostNumber;
    case static_cast<std::uint16_t>(SharedKind::applied):
      return second <= kMostNumber && day == 0;
    default:
      return false;
  }
}

}  // namespace

std::string shared_file_name(std::uint64_t number) {
  const std::string digits = std::to_string(number);
  return std::string(kNumberDigits - std::min(kNumberDigits, digits.size()), '0') + digits + std::string(kSuffix);
}

std::uint64_t number_of_shared_file(std::string_view name) noexcept {
  if (name.size() != kNumberDigits + kSuffix.size() || !name.ends_with(kSuffix)) return 0;
  std::uint64_t number = 0;
  const char* const end = name.data() + kNumberDigits;
  return std::from_chars(name.data(), end, number).ptr == end ? number : 0;  // so few digits are never too many
}

std::string shared_text(const SharedHeader& header, std::span<const SharedRecord> records) {
  std::string text(kSharedHeaderBytes + records.size() * kSharedRecordBytes, '\0');
  std::ranges::copy(kMagic, text.begin());
  store<std::uint32_t>(text.data() + kVersionAt, kVersion);
  store<std::uint16_t>(text.data() + kWholeAt, header.is_whole ? 1 : 0);
  store<std::uint16_t>(text.data() + kDayAt, header.day);
  store<std::uint64_t>(text.data() + kSourceAt, header.source);
  store<std::uint64_t>(text.data() + kCheckAt, header.key_check);
  store<std::uint64_t>(text.data() + kChangeAt, static_cast<std::uint64_t>(header.last_change));
  store<std::uint64_t>(text.data() + kForgetAt, static_cast<std::uint64_t>(header.last_forget));
  store<std::uint64_t>(text.data() + kCountAt, records.size());
  char* to = text.data() + kSharedHeaderBytes;
  for (const SharedRecord& record : records) {
    store<std::uint64_t>(to + kHashAt, record.hash);
    store<std::uint64_t>(to + kSecondAt, record.second);
    store<std::uint16_t>(to + kRecordDayAt, record.day);
    store<std::uint16_t>(to + kKindAt, static_cast<std::uint16_t>(record.kind));
    to += kSharedRecordBytes;
  }
  return text;
}

SharedPairs::SharedPairs(std::string_view bytes, const std::string& path) {
  if (!bytes.starts_with(kMagic)) {
    refuse(path, 0, "is not a file of learned pairs, as 'bloomgate share' makes it,", ErrorCode::bad_magic);
  }
  if (bytes.size() < kSharedHeaderBytes) refuse(path, bytes.size(), "ends within its header,");
  if (const auto version = load<std::uint32_t>(bytes, kVersionAt); version != kVersion) {
    refuse(path, kVersionAt,
           "has version " + std::to_string(version) + " of learned pairs, and this Bloomgate knows version " +
               std::to_string(kVersion) + " alone; it is told",
           ErrorCode::unsupported_version);
  }
  const auto whole = load<std::uint16_t>(bytes, kWholeAt);
  if (whole > 1) refuse(path, kWholeAt, "has neither 0 nor 1");
  header_ = {.source = load<std::uint64_t>(bytes, kSourceAt),
             .key_check = load<std::uint64_t>(bytes, kCheckAt),
             .last_change = number_at(bytes, kChangeAt, path),
             .last_forget = number_at(bytes, kForgetAt, path),
             .day = load<std::uint16_t>(bytes, kDayAt),
             .is_whole = whole == 1};
  records_ = bytes.substr(kSharedHeaderBytes);
  if (records_.size() % kSharedRecordBytes != 0 || load<std::uint64_t>(bytes, kCountAt) != size()) {
    refuse(path, kCountAt, "has another number of records than it says");
  }
  for (std::size_t at = 0; at < records_.size(); at += kSharedRecordBytes) {
    if (!is_record(records_.substr(at, kSharedRecordBytes))) {
      refuse(path, kSharedHeaderBytes + at, "has no record as this Bloomgate knows it");
    }
  }
}

SharedRecord SharedPairs::operator[](std::size_t i) const noexcept {
  const std::string_view record = records_.substr(i * kSharedRecordBytes, kSharedRecordBytes);
  return {.kind = static_cast<SharedKind>(load<std::uint16_t>(record, kKindAt)),
          .hash = load<std::uint64_t>(record, kHashAt),
          .second = load<std::uint64_t>(record, kSecondAt),
          .day = load<std::uint16_t>(record, kRecordDayAt)};
}

}  // namespace bloomgate
