#include "milter/dkim/key_reply.hpp"

#include <algorithm>
#include <cstdint>

namespace bloomgate {
namespace {

constexpr std::size_t kMaxLabel = 63;
constexpr std::size_t kMaxString = 255;

// Writes as much as there is room for, and remembers whether everything fitted.
class Message {
 public:
  explicit Message(std::span<unsigned char> out) noexcept : out_(out) {}

  void put(std::uint8_t byte) noexcept {
    if (size_ < out_.size()) out_[size_] = byte;
    ++size_;
  }
  void put16(std::size_t number) noexcept {
    put(static_cast<std::uint8_t>(number >> 8 & 0xff));
    put(static_cast<std::uint8_t>(number & 0xff));
  }
  void put_string(std::string_view text) noexcept {
    put(static_cast<std::uint8_t>(text.size()));
    for (const char byte : text) put(static_cast<std::uint8_t>(byte));
  }

  std::size_t size() const noexcept { return size_ <= out_.size() ? size_ : 0; }

 private:
  std::span<unsigned char> out_;
  std::size_t size_ = 0;
};

bool put_name(Message& message, std::string_view name) noexcept {
  while (!name.empty()) {
    const std::size_t end = std::min(name.find('.'), name.size());
    if (end == 0 || end > kMaxLabel) return false;
    message.put_string(name.substr(0, end));
    name.remove_prefix(std::min(end + 1, name.size()));
  }
  message.put(0);
  return true;
}

}  // namespace

std::size_t write_key_reply(std::string_view name, std::string_view text, std::span<unsigned char> out) noexcept {
  constexpr std::uint16_t kReply = 0x8180;       // an answer of a recursive server
  constexpr std::uint16_t kNoSuchName = 0x8183;  // the same, with NXDOMAIN
  constexpr std::uint16_t kTxt = 16;
  constexpr std::uint16_t kInternet = 1;
  constexpr std::uint16_t kNameOfQuestion = 0xc00c;  // a pointer to that name
  Message message(out);
  message.put16(0);  // its ID
  message.put16(text.empty() ? kNoSuchName : kReply);
  message.put16(1);                     // questions
  message.put16(text.empty() ? 0 : 1);  // answers
  message.put16(0);
  message.put16(0);
  if (!put_name(message, name)) return 0;
  message.put16(kTxt);
  message.put16(kInternet);
  if (text.empty()) return message.size();

  message.put16(kNameOfQuestion);
  message.put16(kTxt);
  message.put16(kInternet);
  message.put16(0);  // the TTL, in two parts
  message.put16(0);
  message.put16(text.size() + (text.size() + kMaxString - 1) / kMaxString);
  for (; !text.empty(); text.remove_prefix(std::min(kMaxString, text.size()))) {
    message.put_string(text.substr(0, kMaxString));
  }
  return message.size();
}

}  // namespace bloomgate
