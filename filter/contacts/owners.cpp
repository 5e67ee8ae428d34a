#include "filter/contacts/owners.hpp"

#include <glob.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <fstream>

#include "filter/base/ascii.hpp"
#include "filter/base/error.hpp"
#include "filter/base/usage_error.hpp"

namespace bloomgate {
namespace {

constexpr std::string_view kBlanksOfLines = " \t\r";
constexpr std::string_view kBetweenLogins = " \t\r,";

// The position of the first sign of an owner's name in the text; npos if there is none.
std::size_t find_sign(std::string_view text) noexcept {
  for (std::size_t at = text.find('%'); at != std::string_view::npos; at = text.find('%', at + 1)) {
    if (at + 1 < text.size() && std::string_view("und").find(text[at + 1]) != std::string_view::npos) return at;
  }
  return std::string_view::npos;
}

// Removes the first part, and the slash after it, from the front of a path.
std::string_view take_part(std::string_view& path) noexcept {
  const std::string_view part = path.substr(0, path.find('/'));
  path.remove_prefix(std::min(part.size() + 1, path.size()));
  return part;
}

struct Freed {
  ~Freed() { globfree(&found); }
  glob_t found = {};
};

}  // namespace

bool OwnerPattern::is_pattern(std::string_view text) noexcept {
  return find_sign(text) != std::string_view::npos;
}

OwnerPattern::OwnerPattern(std::string_view text) : text_(text) {
  while (text_.size() > 1 && text_.ends_with('/')) text_.pop_back();
  std::string signs;
  std::string_view rest = text_;
  while (!rest.empty()) {
    const bool is_first = rest.size() == text_.size();
    const std::string_view part = take_part(rest);
    if (!is_first) wildcards_ += '/';
    const std::size_t at = find_sign(part);
    if (at == std::string_view::npos) {
      wildcards_ += part;
      continue;
    }
    if (find_sign(part.substr(at + 2)) != std::string_view::npos) {
      throw UsageError("between two slashes a pattern may have only one of %u, %n and %d, not '" + std::string(part) +
                       "'");
    }
    signs += part[at + 1];
    wildcards_.append(part.substr(0, at)).append("*").append(part.substr(at + 2));
  }
  std::ranges::sort(signs);
  if (signs != "u" && signs != "dn" && signs != "n") {
    throw UsageError("a pattern needs one %u, or one %n and at most one %d, to say whose mailbox a path is; not '" +
                     text_ + "'");
  }
}

std::optional<std::string> OwnerPattern::owner_of(std::string_view path) const {
  std::string name;
  std::string domain;
  std::string_view pattern = text_;
  while (!pattern.empty() && !path.empty()) {
    const std::string_view wanted = take_part(pattern);
    const std::string_view part = take_part(path);
    const std::size_t at = find_sign(wanted);
    if (at == std::string_view::npos) continue;
    const std::string_view before = wanted.substr(0, at);
    const std::string_view after = wanted.substr(at + 2);
    // With wildcards beside the sign it would not be clear which part is the name.
    if (part.size() <= before.size() + after.size() || !part.starts_with(before) || !part.ends_with(after)) {
      return std::nullopt;
    }
    (wanted[at + 1] == 'd' ? domain : name) = part.substr(before.size(), part.size() - before.size() - after.size());
  }
  if (!pattern.empty() || !path.empty() || name.empty()) return std::nullopt;
  if (!domain.empty()) name.append(1, '@').append(domain);
  return ascii::lower_case(name);
}

std::vector<OwnerPattern::Place> OwnerPattern::places() const {
  Freed freed;
  const int status = glob(wildcards_.c_str(), 0, nullptr, &freed.found);
  if (status == GLOB_NOSPACE) throw std::bad_alloc();
  std::vector<Place> places;
  for (std::size_t at = 0; status == 0 && at < freed.found.gl_pathc; ++at) {
    std::string path = freed.found.gl_pathv[at];
    if (std::optional<std::string> owner = owner_of(path)) places.push_back({std::move(path), *std::move(owner)});
  }
  return places;
}

void OwnerAddresses::add_line(std::string_view line, const std::string& place) {
  const std::string_view written = line.substr(0, line.find_first_of(kBlanksOfLines));
  std::string_view logins = ascii::trimmed(line.substr(written.size()), kBetweenLogins);
  if (logins.empty() || written.starts_with('/')) {
    return skip_line(place, "not an address and its logins, as in 'ann.smith@example.net asmith'");
  }
  std::string address(written);
  if (written.find('@') == std::string_view::npos) {
    if (own_domains_.only().empty()) {
      return skip_line(place,
                       "not an address; a name without a domain needs one --own-domain, without a dot before it");
    }
    address.append(1, '@').append(own_domains_.only());
  }
  const Entry entry = address.starts_with('@') ? canonicalize_line(address) : canonicalize_path(address);
  if (entry.kind() != EntryKind::address && entry.kind() != EntryKind::domain) {
    return skip_line(place, "not an address: " + reject_text(entry));
  }
  if (!own_domains_.contains(entry.domain())) return;
  while (!logins.empty()) {
    const std::string login = ascii::lower_case(logins.substr(0, logins.find_first_of(kBetweenLogins)));
    if (!login.empty()) {
      by_address_[std::string(entry.key())].push_back(login);
      if (entry.kind() == EntryKind::address) by_login_[login].emplace_back(entry.key());
    }
    logins.remove_prefix(std::min(login.size() + 1, logins.size()));
  }
}

void OwnerAddresses::skip_line(const std::string& place, std::string_view fault) {
  ++skipped_lines_;
  if (faults_.size() < kMostFaults) faults_.push_back(place + ": " + std::string(fault));
}

void OwnerAddresses::read(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw system_error(ErrorCode::cannot_open, "open", path, errno);
  std::string entry;  // including its continuation lines, as Postfix joins them
  std::uint64_t first = 0;
  const auto use = [&] {
    if (!entry.empty()) add_line(entry, path + ":" + std::to_string(first));
    entry.clear();
  };
  std::uint64_t number = 0;
  for (std::string line; std::getline(file, line);) {
    ++number;
    const std::string_view text = ascii::trimmed(line, kBlanksOfLines);
    if (text.empty() || text.starts_with('#')) continue;
    if (line.starts_with(' ') || line.starts_with('\t')) {
      entry.append(1, ' ').append(text);
      continue;
    }
    use();
    entry = text;
    first = number;
  }
  use();
  if (file.bad()) throw system_error(ErrorCode::cannot_read, "read", path, errno);
  if (by_address_.empty()) {
    throw BloomgateError(ErrorCode::bad_input,
                         faults_.empty()
                             ? path + " has no line with an address in one of your own domains and its logins"
                             : faults_.front() + "; and no other line has an own address and its logins",
                         {.path = path});
  }
}

std::vector<std::string> OwnerAddresses::of(std::string_view login) const {
  std::vector<std::string> addresses;
  if (const auto found = by_login_.find(ascii::lower_case(login)); found != by_login_.end()) addresses = found->second;
  std::string own_path(login);
  if (by_address_.empty() && login.find('@') == std::string_view::npos)
    own_path.append(1, '@').append(own_domains_.only());
  const Entry own = canonicalize_path(own_path);
  if (own.kind() == EntryKind::address && own_domains_.contains(own.domain()) && logins_of(own.key()) == nullptr) {
    addresses.emplace_back(own.key());
  }
  std::ranges::sort(addresses);
  addresses.erase(std::unique(addresses.begin(), addresses.end()), addresses.end());
  return addresses;
}

const std::vector<std::string>* OwnerAddresses::logins_of(std::string_view key) const {
  const auto found = by_address_.find(key);
  return found == by_address_.end() ? nullptr : &found->second;
}

bool OwnerAddresses::has(std::string_view login, std::string_view address) const {
  return std::ranges::binary_search(of(login), address);
}

bool OwnerAddresses::may_write_as(std::string_view login, std::string_view sender) const {
  if (logins_of(sender) != nullptr || has(login, sender)) return has(login, sender);
  const std::string_view domain = sender.substr(sender.rfind('@'));
  if (const std::size_t tag = sender.find('+'); tag != 0 && tag < sender.size() - domain.size()) {
    const std::string without_tag = std::string(sender.substr(0, tag)).append(domain);
    if (logins_of(without_tag) != nullptr || has(login, without_tag)) return has(login, without_tag);
  }
  const std::vector<std::string>* const logins = logins_of(domain);
  return logins != nullptr && std::ranges::find(*logins, ascii::lower_case(login)) != logins->end();
}

}  // namespace bloomgate
