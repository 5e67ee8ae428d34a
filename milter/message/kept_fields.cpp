#include "milter/message/kept_fields.hpp"

namespace bloomgate {
namespace {

// The most bytes that a connection keeps between messages; usual messages need much less.
constexpr std::size_t kMaxIdleFieldBytes = 16384;

}  // namespace

bool KeptFields::add(std::string_view value) {
  value = value.substr(0, limits_.bytes_each);
  if (ends_.size() >= limits_.fields || value.size() > limits_.bytes - text_.size()) return false;
  text_.append(value);
  ends_.push_back(text_.size());
  return true;
}

void KeptFields::clear() noexcept {
  text_.clear();
  if (text_.capacity() > kMaxIdleFieldBytes) std::string().swap(text_);
  ends_.clear();
  views_.clear();
}

std::vector<std::string> KeptFields::copies() const {
  std::vector<std::string> copies;
  std::size_t begin = 0;
  for (const std::size_t end : ends_) {
    copies.push_back(text_.substr(begin, end - begin));
    begin = end;
  }
  return copies;
}

std::span<const std::string_view> KeptFields::views() {
  views_.clear();
  std::size_t begin = 0;
  for (const std::size_t end : ends_) {
    views_.push_back(std::string_view(text_).substr(begin, end - begin));
    begin = end;
  }
  return views_;
}

}  // namespace bloomgate
