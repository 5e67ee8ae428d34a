// A file of what one host has learned and forgotten, for others: FORMAT.md, "What is learned". Pairs are hashes by a
// key that the hosts share (learn_key.hpp); the file has no addresses.
//
// A folder of such files, named by a manifest, is read in the order of their names. Later records override earlier
// ones. The first file has everything that was known then, each other file has what was new.
//
// Pure; safe from any thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace bloomgate {

enum class SharedKind : std::uint8_t {
  pair = 1,     // learned: `hash` of the pair, `day` of its last use
  gone = 2,     // no longer learned: `hash` of the pair
  person = 3,   // forgotten: `hash` of the person, `second` the number of the forget, `day` of the forget
  applied = 4,  // the forgets of another host were applied: `hash` is forgets_id(), `second` the last number
  domain = 5,   // the domain of a correspondent in some pair: `hash` of the domain, `day` of the last use
};

struct SharedRecord {
  SharedKind kind = SharedKind::pair;
  std::uint64_t hash = 0;
  std::uint64_t second = 0;
  std::uint16_t day = 0;  // since 1970
  friend bool operator==(const SharedRecord&, const SharedRecord&) = default;
};

struct SharedHeader {
  std::uint64_t source = 0;      // LearnedFile::source()
  std::uint64_t key_check = 0;   // LearnKey::check()
  std::int64_t last_change = 0;  // the last change of the source's file that is in this one
  std::int64_t last_forget = 0;
  std::uint16_t day = 0;  // on which it was made, since 1970
  bool is_whole = false;  // a reader needs no earlier file
  friend bool operator==(const SharedHeader&, const SharedHeader&) = default;
};

inline constexpr std::size_t kSharedHeaderBytes = 56;
inline constexpr std::size_t kSharedRecordBytes = 24;

// "0000000000000017.pairs"
std::string shared_file_name(std::uint64_t number);
// The number of such a name; 0 for any other.
std::uint64_t number_of_shared_file(std::string_view name) noexcept;

std::string shared_text(const SharedHeader& header, std::span<const SharedRecord> records);

// The bytes must outlive it.
class SharedPairs {
 public:
  // Throws BloomgateError{bad_magic, unsupported_version, bad_input}, with the position, for bytes that shared_text()
  // would not make. `path` is for messages.
  SharedPairs(std::string_view bytes, const std::string& path);

  const SharedHeader& header() const noexcept { return header_; }
  std::size_t size() const noexcept { return records_.size() / kSharedRecordBytes; }
  SharedRecord operator[](std::size_t i) const noexcept;

 private:
  SharedHeader header_;
  std::string_view records_;
};

}  // namespace bloomgate
