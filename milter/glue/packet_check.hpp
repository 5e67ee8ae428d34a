// Follows the packets of one connection, as they are read, and finds what libmilter must not be given: a packet of
// macros whose strings do not pair up, a name and its value. smfi_getsymval() then reads behind the end of libmilter's
// own list, which can end the process.
//
// A packet is its length in four bytes, big-endian, that many bytes with the command first. Macros ('D') are the
// command that they are for, then strings that each end with a zero byte (sendmail's libmilter/engine.c, st_macros).
//
// One thread at a time. All bits zero is a connection of which nothing has been read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace bloomgate {

class PacketCheck {
 public:
  // The next bytes, of any number of packets. Returns false once a packet of macros has ended whose strings do not pair
  // up; what follows is not looked at.
  bool take(std::span<const unsigned char> bytes) noexcept;

 private:
  void begin_packet(unsigned char command) noexcept;
  bool take_macros(std::span<const unsigned char> bytes) noexcept;

  static constexpr std::size_t kHeadBytes = 5;

  std::uint32_t length_ = 0;
  std::uint32_t left_ = 0;  // of the packet, behind its command
  std::uint8_t have_ = 0;   // of its head
  bool is_macros_ = false;
  bool has_stage_ = false;  // the command that the macros are for
  bool is_odd_ = false;     // the number of strings
};

}  // namespace bloomgate
