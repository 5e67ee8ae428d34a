#include "filter/contacts/forgotten_people.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <chrono>

#include "filter/base/error.hpp"
#include "filter/hash/hash.hpp"
#include "filter/learned/is_of_people.hpp"
#include "filter/system/file_io.hpp"

namespace bloomgate {
namespace {

constexpr std::string_view kFirstWords = "bloomgate-forgotten 1 ";

std::optional<std::uint64_t> number_of(std::string_view text) noexcept {
  constexpr std::size_t kDigits = 16;
  constexpr int kBase = 16;
  std::uint64_t number = 0;
  const char* const end = text.data() + text.size();
  // So few digits are never too many.
  if (text.size() != kDigits || std::from_chars(text.data(), end, number, kBase).ptr != end) return std::nullopt;
  return number;
}

}  // namespace

ForgottenPeople::ForgottenPeople() : key_(random_seed()), latest_(last_day_at(std::chrono::system_clock::now())) {}

ForgottenPeople ForgottenPeople::read(const std::string& path) {
  const std::string text = read_text(path);
  std::string_view rest = text;
  std::uint64_t number = 0;
  const auto refuse = [&] {
    throw BloomgateError(ErrorCode::bad_input,
                         path + ": line " + std::to_string(number) +
                             " is not as 'bloomgate learned forget --lists' writes it; restore the file from a backup, "
                             "or remove it and forget these people once more",
                         {.path = path});
  };
  const auto next_line = [&]() -> std::string_view {
    ++number;
    const std::size_t end = rest.find('\n');
    if (end == std::string_view::npos) refuse();
    const std::string_view line = rest.substr(0, end);
    rest.remove_prefix(end + 1);
    return line;
  };
  const std::string_view first = next_line();
  const std::optional<std::uint64_t> key = number_of(first.substr(std::min(kFirstWords.size(), first.size())));
  if (!first.starts_with(kFirstWords) || !key) refuse();
  ForgottenPeople people;
  people.key_ = *key;
  while (!rest.empty()) {
    const std::string_view line = next_line();
    const std::size_t blank = std::min(line.find(' '), line.size());
    const std::optional<Day> day = parse_day(line.substr(0, blank));
    const std::optional<std::uint64_t> hash = number_of(line.substr(std::min(blank + 1, line.size())));
    if (!day || !hash || !people.days_.emplace(*hash, *day).second) refuse();
  }
  return people;
}

std::string ForgottenPeople::text() const {
  std::string text = fmt::format("{}{:016x}\n", kFirstWords, key_);
  for (const auto& [hash, day] : days_) text += fmt::format("{} {:016x}\n", format_day(day), hash);
  return text;
}

void ForgottenPeople::add(const Entry& person, Day day) {
  Day& known = days_.try_emplace(hash_key(person.key(), key_), day).first->second;
  known = std::max(known, day);
}

bool ForgottenPeople::have(std::string_view address, std::optional<Day> day) const noexcept {
  return !empty() && is_of_people(address, [&](std::string_view person) noexcept {
    const auto found = days_.find(hash_key(person, key_));
    return found != days_.end() && (!day || *day > latest_ || *day <= found->second);
  });
}

Day last_day_at(std::chrono::system_clock::time_point time) noexcept {
  constexpr std::chrono::hours kFirstZone{14};
  return std::chrono::floor<std::chrono::days>(time + kFirstZone);
}

}  // namespace bloomgate
