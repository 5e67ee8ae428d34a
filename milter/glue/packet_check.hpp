// Follows the packets of one connection while they are read, and finds packets that libmilter must not get: those with
// macros whose strings are not pairs of a name and a value. For these, smfi_getsymval() reads beyond the end of
// libmilter's own list, which can crash the process.
//
// A packet is a length in four bytes, big-endian, and that many bytes, of which the first is the command. A packet of
// macros ('D') holds the command that they are for, then strings that each end with a zero byte (sendmail's
// libmilter/engine.c, st_macros).
//
// One thread at a time. An object with all bits zero is a connection from which nothing has been read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace bloomgate {

class PacketCheck {
 public:
  // The next bytes, of any number of packets. Returns false once a packet of macros has ended whose strings are not
  // pairs; the bytes after it are not examined.
  bool take(std::span<const unsigned char> bytes) noexcept;

 private:
  void begin_packet(unsigned char command) noexcept;
  bool take_macros(std::span<const unsigned char> bytes) noexcept;

  static constexpr std::size_t kHeadBytes = 5;

  std::uint32_t length_ = 0;
  std::uint32_t left_ = 0;  // of the packet, after its command
  std::uint8_t have_ = 0;   // of its head
  bool is_macros_ = false;
  bool has_stage_ = false;  // the command that the macros are for
  bool is_odd_ = false;     // the number of strings is odd
};

}  // namespace bloomgate
