#include "filter/contacts/contact_sorter.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>
#include <queue>
#include <span>

#include "filter/base/error.hpp"
#include "filter/system/file_io.hpp"

namespace bloomgate {
namespace {

// Separates contact and user: no key has this byte, and it is less than all bytes of keys. So the pairs are in the
// order of their contacts.
constexpr char kBetweenSides = '\0';
constexpr std::size_t kHeadBytes = sizeof(std::uint64_t) + sizeof(std::uint32_t);
constexpr std::size_t kBufferBytes = std::size_t{1} << 18;

void use_pair(std::string_view text, std::uint64_t times, const ContactSorter::Use& use) {
  const std::size_t between = text.find(kBetweenSides);
  use(text.substr(0, between), text.substr(between + 1), times);
}

// After a pair: kBetweenSides, the hash, whether it is of the Message-ID, and whether a log has it.
constexpr std::size_t kHashBytes = sizeof(std::uint64_t);
constexpr std::size_t kMarkBytes = 1 + kHashBytes + 2;

void append_mark(std::string& text, const MessageMark& message) {
  text.append(1, kBetweenSides);
  text.append(reinterpret_cast<const char*>(&message.hash), kHashBytes);
  text.append(1, message.is_named ? '\1' : '\0').append(1, message.is_logged ? '\1' : '\0');
}

// The least number of messages that the marks of a pair can stand for. Marks come in order, each once. A message may be
// in a log with its Message-ID, and in a folder without it, so these two counts are not added.
class MessageCounter {
 public:
  explicit MessageCounter(const ContactSorter::Use& use) : use_(use) {}
  void add(std::string_view text) {
    const std::string_view pair = text.substr(0, text.size() - kMarkBytes);
    if (pair != pair_) flush();
    pair_ = pair;
    const std::string_view name = text.substr(pair.size(), kMarkBytes - 1);
    if (name.back() == '\1' && name != name_) ++named_;
    name_ = name;
    ++(text.back() == '\1' ? logged_ : sent_);
  }
  void flush() {
    if (logged_ + sent_ != 0) use_pair(pair_, std::max({named_, logged_, sent_}), use_);
    named_ = logged_ = sent_ = 0;
    name_.clear();
  }

 private:
  const ContactSorter::Use& use_;
  std::string pair_;
  std::string name_;
  std::uint64_t named_ = 0, logged_ = 0, sent_ = 0;
};

// Adds up equal texts, which come in order.
class Adder {
 public:
  using Use = std::function<void(std::string_view text, std::uint64_t times)>;
  explicit Adder(const Use& use) : use_(use) {}
  void add(std::string_view text, std::uint64_t times) {
    if (text != text_) {
      flush();
      text_ = text;
    }
    times_ += times;
  }
  void flush() {
    if (times_ != 0) use_(text_, times_);
    times_ = 0;
  }

 private:
  const Use& use_;
  std::string text_;
  std::uint64_t times_ = 0;
};

}  // namespace

// Reads a run from its beginning to its end.
class ContactSorter::RunReader {
 public:
  RunReader(int file, Run run, const std::string& folder) : file_(file), run_(run), folder_(folder) {}

  bool next() {
    at_ += kHeadBytes * static_cast<std::size_t>(!text_.empty()) + text_.size();
    if (at_ == buffer_.size() && run_.begin == run_.end) return false;
    require(kHeadBytes);
    std::uint32_t bytes = 0;
    std::memcpy(&times_, buffer_.data() + at_, sizeof(times_));
    std::memcpy(&bytes, buffer_.data() + at_ + sizeof(times_), sizeof(bytes));
    require(kHeadBytes + bytes);
    text_ = std::string_view(buffer_).substr(at_ + kHeadBytes, bytes);
    return true;
  }

  std::string_view text() const noexcept { return text_; }
  std::uint64_t times() const noexcept { return times_; }

 private:
  void require(std::size_t bytes) {
    if (buffer_.size() - at_ >= bytes) return;
    buffer_.erase(0, at_);
    at_ = 0;
    const std::size_t have = buffer_.size();
    const std::size_t more = std::min<std::uint64_t>(std::max(kBufferBytes, bytes), run_.end - run_.begin);
    buffer_.resize(have + more);
    const int error = read_at(file_, std::as_writable_bytes(std::span(buffer_)).subspan(have), run_.begin);
    if (error != 0) throw system_error(ErrorCode::cannot_read, "read back what was put into", folder_, error);
    run_.begin += more;
  }

  int file_;
  Run run_;  // the rest of it that is still to be read
  const std::string& folder_;
  std::string buffer_;
  std::size_t at_ = 0;
  std::string_view text_;
  std::uint64_t times_ = 0;
};

ContactSorter::ContactSorter(std::uint64_t memory_bytes, std::string folder, bool counts_messages)
    : memory_bytes_(memory_bytes), folder_(std::move(folder)), counts_messages_(counts_messages) {}

std::string_view ContactSorter::text_of(const Item& item) const noexcept {
  return std::string_view(texts_).substr(item.offset, item.bytes);
}

std::uint64_t ContactSorter::used_bytes() const noexcept {
  return texts_.size() + items_.size() * sizeof(Item);
}

void ContactSorter::add(std::string_view contact, std::string_view user, const MessageMark& message) {
  if (used_bytes() >= memory_bytes_) {
    compact();
    if (used_bytes() > memory_bytes_ / 2) spill();
  }
  const std::size_t begin = texts_.size();
  texts_.append(contact).append(1, kBetweenSides).append(user);
  if (counts_messages_) append_mark(texts_, message);
  items_.push_back({.offset = begin, .bytes = static_cast<std::uint32_t>(texts_.size() - begin)});
}

// Sorts the items, and unites equal ones.
void ContactSorter::compact() {
  std::ranges::sort(items_, {}, [this](const Item& item) { return text_of(item); });
  std::string texts;
  std::vector<Item> items;
  for (const Item& item : items_) {
    const std::string_view text = text_of(item);
    if (!items.empty() && std::string_view(texts).substr(items.back().offset) == text) {
      items.back().times += item.times;
    } else {
      items.push_back({.offset = texts.size(), .times = item.times, .bytes = item.bytes});
      texts += text;
    }
  }
  texts_ = std::move(texts);
  items_ = std::move(items);
}

void ContactSorter::spill() {
  if (!file_.is_open()) file_ = unnamed_file(folder_);
  if (!file_.is_open()) throw system_error(ErrorCode::cannot_write, "create a temporary file in", folder_, errno);
  const Run run = {file_end_, file_end_};
  runs_.push_back(run);
  std::string buffer;
  const auto write = [&] {
    const int error = write_at(file_.get(), std::as_bytes(std::span(buffer)), file_end_);
    if (error != 0) throw system_error(ErrorCode::cannot_write, "write a temporary file in", folder_, error);
    file_end_ += buffer.size();
    buffer.clear();
  };
  for (const Item& item : items_) {
    buffer.append(reinterpret_cast<const char*>(&item.times), sizeof(item.times));
    buffer.append(reinterpret_cast<const char*>(&item.bytes), sizeof(item.bytes));
    buffer.append(text_of(item));
    if (buffer.size() >= kBufferBytes) write();
  }
  write();
  runs_.back().end = file_end_;
  texts_.clear();
  items_.clear();
}

void ContactSorter::merge(const UseText& use) {
  std::vector<RunReader> readers;
  for (const Run& run : runs_) readers.emplace_back(file_.get(), run, folder_);
  const auto later = [](const RunReader* a, const RunReader* b) { return a->text() > b->text(); };
  std::priority_queue<RunReader*, std::vector<RunReader*>, decltype(later)> next(later);
  for (RunReader& reader : readers) {
    if (reader.next()) next.push(&reader);
  }
  Adder adder(use);
  while (!next.empty()) {
    RunReader* const reader = next.top();
    next.pop();
    adder.add(reader->text(), reader->times());
    if (reader->next()) next.push(reader);
  }
  adder.flush();
}

void ContactSorter::for_each_text(const UseText& use) {
  compact();
  if (!runs_.empty()) {
    if (!items_.empty()) spill();
    return merge(use);
  }
  for (const Item& item : items_) use(text_of(item), item.times);
}

void ContactSorter::for_each(const Use& use) {
  if (!counts_messages_) {
    return for_each_text([&use](std::string_view text, std::uint64_t times) { use_pair(text, times, use); });
  }
  MessageCounter counter(use);
  for_each_text([&counter](std::string_view text, std::uint64_t) { counter.add(text); });
  counter.flush();
}

}  // namespace bloomgate
