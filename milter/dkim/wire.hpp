// The protocol between the daemon and its verifier child: see verifier_child.hpp. Numbers are little-endian; both are
// the same program on the same machine.
//
// Neither reader trusts its input: the child reads what a sender wrote, and the daemon reads the output of a child that
// a sender may have taken over. Lengths are checked before they are used, and only possible values are accepted. Pure;
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

// A part of one message's conversation: its kind, its length in four bytes, and that many bytes.
enum class Kind : std::uint8_t {
  begin,  // from the daemon: a VerifyRequest
  body,   // from the daemon: some bytes of the body
  end,    // from the daemon: the message is over; empty
  found,  // from the child: Signatures
};

struct Head {
  Kind kind = Kind::begin;
  std::uint32_t size = 0;
};
inline constexpr std::size_t kHeadBytes = 5;

// The most bytes of a part: enough for the header of a message, with some reserve.
inline constexpr std::uint32_t kMaxPartBytes = std::uint32_t{1} << 19;

std::string head_bytes(const Head& head);

// Nothing if the head is invalid. `bytes` has kHeadBytes.
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

// What the child is told when it starts.
struct ChildOptions {
  VerifyRules rules = {};
  ResolverOptions resolver = {};
};

std::string encode(const ChildOptions& options);
std::optional<ChildOptions> decode_options(std::string_view bytes);

// What the child reports about its name servers, on the control socket, at any time.
struct Note {
  enum class Kind : std::uint8_t {
    servers,  // `text`: which servers are asked from now on
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
