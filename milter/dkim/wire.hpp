// What the daemon and its verifying child say to each other: see verifier_child.hpp. Numbers are little-endian; both
// are the same program on the same machine.
//
// The reader of each believes nothing: the child reads what a sender wrote, and the daemon reads what a child says that
// a sender may have taken over. Lengths are checked before they are used, and every value is one that can be. Pure;
// safe from any thread; encoders and decoders throw std::bad_alloc.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "milter/dkim/verifier.hpp"
#include "milter/names/resolver.hpp"

namespace bloomgate::wire {

// A part of one message's conversation: its kind, its length in four bytes, and as many bytes.
enum class Kind : std::uint8_t {
  begin,  // the daemon's: a VerifyRequest
  body,   // the daemon's: some bytes of the body
  end,    // the daemon's: the message is over; empty
  found,  // the child's: Signatures
};

struct Head {
  Kind kind = Kind::begin;
  std::uint32_t size = 0;
};
inline constexpr std::size_t kHeadBytes = 5;

// No part is longer: the header of a message and some room.
inline constexpr std::uint32_t kMaxPartBytes = std::uint32_t{1} << 19;

std::string head_bytes(const Head& head);

// Nothing if it is no such head. `bytes` are kHeadBytes.
std::optional<Head> read_head(std::string_view bytes) noexcept;

struct OwnedRequest {
  std::vector<std::string> header = {};
  SignatureNeed need = {};
  std::chrono::sys_seconds now = {};
};

std::string encode(const VerifyRequest& request);
std::optional<OwnedRequest> decode_request(std::string_view bytes);

std::string encode(const Signatures& signatures);
std::optional<Signatures> decode_signatures(std::string_view bytes);

// What a child is told when it starts.
struct ChildOptions {
  VerifyRules rules = {};
  ResolverOptions resolver = {};
};

std::string encode(const ChildOptions& options);
std::optional<ChildOptions> decode_options(std::string_view bytes);

// What a child says of its name servers, on the control socket, at any time.
struct Note {
  enum class Kind : std::uint8_t {
    servers,  // `text`: whose servers are asked from now on
    failing,  // the name servers fail
    working,  // they answer again
    key,      // a look-up of a key is over: `status` and `took`
  };
  Kind kind = Kind::working;
  std::string text = {};
  TxtStatus status = TxtStatus::found;
  std::chrono::microseconds took{0};

  friend bool operator==(const Note&, const Note&) = default;
};
inline constexpr std::size_t kMaxNoteBytes = 2048;  // a longer text is cut off

std::string encode(const Note& note);
std::optional<Note> decode_note(std::string_view bytes);

}  // namespace bloomgate::wire
