#include "filter/cli/lists/broad_domains.hpp"

#include <libpsl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <fstream>

#include "filter/base/error.hpp"

namespace bloomgate::cli {
namespace {

// Without the list's rule that every unknown top-level domain is a public suffix: `@.intranet` is somebody's own.
bool is_public_suffix(std::string_view domain) noexcept {
  std::array<char, kMaxDomainBytes + 1> terminated;
  *std::copy(domain.begin(), domain.end(), terminated.begin()) = '\0';
  return psl_is_public_suffix2(psl_builtin(), terminated.data(), PSL_TYPE_ANY | PSL_TYPE_NO_STAR_RULE) != 0;
}

}  // namespace

std::string breadth_text(Breadth breadth, std::string_view key) {
  const std::string entry = entry_text(key);
  return breadth == Breadth::public_suffix
             ? entry + " is a public suffix: anybody can have a domain below it; list single domains"
             : entry + " is a free-mail domain: anybody can have an address there; list single addresses";
}

BroadDomains::BroadDomains(const std::string& path, const std::function<void(std::string_view)>& show) {
  std::ifstream file(path);
  if (!file) throw system_error(ErrorCode::cannot_open, "open", path, errno);
  std::uint64_t number = 0;
  for (std::string line; std::getline(file, line);) {
    ++number;
    const std::size_t start = line.find_first_not_of(" \t\r");
    if (start == std::string::npos || line[start] == '#') continue;
    const Entry entry = canonicalize_line(line[start] == '@' ? line : "@" + line.substr(start));
    if (entry.kind() == EntryKind::domain) {
      free_mail_.emplace(entry.domain());
    } else {
      const std::string place = path + ":" + std::to_string(number);
      const std::string_view why =
          entry.kind() == EntryKind::rejected ? reject_reason_text(entry.reason()) : "it is not the name of one domain";
      show(place + ": not a free-mail domain: " + std::string(why));
    }
  }
  if (file.bad()) throw system_error(ErrorCode::cannot_read, "read", path, errno);
}

Breadth BroadDomains::of(const Entry& entry) const noexcept {
  if (!entry.is_key()) return Breadth::usual;
  std::string_view domain = entry.is_pair() ? sides_of_pair(entry.key()).sender : entry.key();
  if (!domain.starts_with('@')) return Breadth::usual;
  domain.remove_prefix(domain.starts_with("@.") ? 2 : 1);
  if (free_mail_.contains(domain)) return Breadth::free_mail;
  return is_public_suffix(domain) ? Breadth::public_suffix : Breadth::usual;
}

BroadDomains usual_broad_domains(const std::string& path, const std::function<void(std::string_view)>& show) {
  constexpr const char* kUsual = BLOOMGATE_CONFIG_FOLDER "/free-mail-domains.txt";
  if (!path.empty()) return {path, show};
  if (access(kUsual, F_OK) != 0) return {};
  return {kUsual, show};
}

}  // namespace bloomgate::cli
