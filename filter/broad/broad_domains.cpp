#include "filter/broad/broad_domains.hpp"

#include <libpsl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <fstream>
#include <numeric>

#include "filter/address/domain_tree.hpp"
#include "filter/address/list_id.hpp"
#include "filter/base/error.hpp"

namespace bloomgate {
namespace {

constexpr const char* kFreeMailDomains = BLOOMGATE_CONFIG_FOLDER "/free-mail-domains.txt";
constexpr const char* kSharedSigners = BLOOMGATE_CONFIG_FOLDER "/shared-signers.txt";

// The Public Suffix List, which the daemon also uses. Never freed, since it is used until the program ends.
const psl_ctx_t* public_suffixes() noexcept {
  static const psl_ctx_t* const list = [] {
    const psl_ctx_t* const latest = psl_latest(nullptr);
    return latest != nullptr ? latest : psl_builtin();
  }();
  return list;
}

using Terminated = std::array<char, kMaxDomainBytes + 1>;

// `domain` has at most kMaxDomainBytes.
Terminated terminated(std::string_view domain) noexcept {
  Terminated copy;
  *std::copy(domain.begin(), domain.end(), copy.begin()) = '\0';
  return copy;
}

// Without the list's rule that every unknown top-level domain is a public suffix: `@.intranet` is a network's own
// domain.
bool is_public_suffix(std::string_view domain) noexcept {
  return psl_is_public_suffix2(public_suffixes(), terminated(domain).data(), PSL_TYPE_ANY | PSL_TYPE_NO_STAR_RULE) != 0;
}

// The breadth of a domain, or of a literal, by its number of labels alone.
Breadth breadth_of_domain(std::string_view domain) noexcept {
  return label_count(domain) == 1 && !domain.starts_with('[') ? Breadth::dotless : Breadth::usual;
}

std::string_view signer_of(std::string_view key) noexcept {
  return sides_of_signer_key(key).signer;
}

// Calls `use(entry)` for the domain entry of each line. If `use` rejects it, the line is not `what`.
template <typename Use>
void read_domains(const std::string& path, std::string_view what, const BroadDomains::Show& show, Use use) {
  std::ifstream file(path);
  if (!file) throw system_error(ErrorCode::cannot_open, "open", path, errno);
  std::uint64_t number = 0;
  for (std::string line; std::getline(file, line);) {
    ++number;
    const std::size_t start = line.find_first_not_of(" \t\r");
    if (start == std::string::npos || line[start] == '#') continue;
    const Entry entry = canonicalize_line(line[start] == '@' ? line : "@" + line.substr(start));
    if (use(entry)) continue;
    const std::string place = path + ":" + std::to_string(number);
    const std::string why =
        entry.kind() == EntryKind::rejected ? reject_text(entry) : "it is not the name of one domain";
    show(place + ": not a " + std::string(what) + ": " + why);
  }
  if (file.bad()) throw system_error(ErrorCode::cannot_read, "read", path, errno);
}

}  // namespace

bool is_organizational_domain(std::string_view domain) noexcept {
  if (domain.size() > kMaxDomainBytes) return false;
  const Terminated copy = terminated(domain);
  return psl_registrable_domain(public_suffixes(), copy.data()) == copy.data();
}

std::string breadth_text(Breadth breadth, std::string_view key) {
  const std::string entry = entry_text(key);
  switch (breadth) {
    case Breadth::usual:
      break;
    case Breadth::public_suffix:
      if (is_mailing_list_key(key)) {
        return entry + " is below a public suffix: anybody can have a mailing list there; list single ones";
      }
      return entry + " is a public suffix: anybody can have a domain below it; list single domains";
    case Breadth::free_mail:
      return entry + " is a free-mail domain: anybody can have an address there; list single addresses";
    case Breadth::list_without_signer: {
      const std::string list(sides_of_pair(key).sender);
      const std::string id = list.substr(kMailingListPrefix.size());
      return entry + " counts only where " + id + " itself signs: everybody at " + std::string(list_host(id)) +
             " could write that List-Id; if another domain signs the list, name it: " + list + " signed-by DOMAIN";
    }
    case Breadth::shared_signer:
      return entry + ": " + std::string(signer_of(key)) +
             " signs for every customer of a service, and any of them may write as this sender unless the service "
             "prevents it; ask the sender for a signature of its own domain";
    case Breadth::public_suffix_signer:
      return entry + ": " + std::string(signer_of(key)) +
             " is a public suffix: anybody can have a domain below it; name the domain that signs";
    case Breadth::free_mail_signer:
      return entry + ": " + std::string(signer_of(key)) +
             " is a free-mail domain, which signs for anybody; ask the sender for a signature of its own domain";
    case Breadth::dotless:
      return entry +
             " has a domain without a dot, as only a network of its own has; if it was cut short, write it whole";
  }
  return entry;
}

BroadCounts& BroadCounts::operator+=(const BroadCounts& more) noexcept {
  std::ranges::transform(counts, more.counts, counts.begin(), std::plus());
  return *this;
}

std::uint64_t BroadCounts::shared_signers() const noexcept {
  return of(Breadth::shared_signer) + of(Breadth::public_suffix_signer) + of(Breadth::free_mail_signer);
}

std::uint64_t BroadCounts::sum() const noexcept {
  return std::reduce(counts.begin(), counts.end());
}

BroadDomains::BroadDomains(const BroadFiles& files, const Show& show) {
  if (!files.free_mail_domains.empty()) {
    read_domains(files.free_mail_domains, "free-mail domain", show, [this](const Entry& entry) {
      if (entry.kind() != EntryKind::domain) return false;
      free_mail_.emplace(entry.domain());
      return true;
    });
  }
  if (!files.shared_signers.empty()) {
    read_domains(files.shared_signers, "signer", show, [this](const Entry& entry) {
      if (entry.kind() != EntryKind::domain && entry.kind() != EntryKind::domain_tree) return false;
      shared_signers_.emplace(entry.key());
      return true;
    });
  }
}

Breadth BroadDomains::of(const Entry& entry) const noexcept {
  if (!entry.is_key()) return Breadth::usual;
  if (entry.is_pair()) return of_key(sides_of_pair(entry.key()).sender);
  if (entry.kind() != EntryKind::with_signer) return of_key(entry.key());
  const SignerSides sides = sides_of_signer_key(entry.key());
  const Breadth breadth = of_signer(sides.signer, sides.entry);
  if (breadth != Breadth::usual) return breadth;
  const Breadth without = of_key(sides.entry);
  return without == Breadth::list_without_signer ? Breadth::usual : without;
}

Breadth BroadDomains::of_address(EntryKind kind, std::string_view key) noexcept {
  const std::string_view sender = kind == EntryKind::pair ? sides_of_pair(key).sender : key;
  return breadth_of_domain(sender.substr(sender.rfind('@') + 1));
}

Breadth BroadDomains::of_signer(std::string_view signer, std::string_view entry) const noexcept {
  const auto is_shared = [this](std::string_view key) { return shared_signers_.contains(key); };
  FixedText<1 + kMaxDomainBytes> key;
  key.append('@');
  key.append(signer);
  if (is_shared(key.view()) || !find_domain_tree(signer, is_shared).empty()) return Breadth::shared_signer;
  // A free-mail provider's signature for an address at its own domain proves no more than the address alone.
  const bool is_its_own = entry.ends_with(key.view());
  if (!is_its_own && free_mail_.contains(signer)) return Breadth::free_mail_signer;
  return is_public_suffix(signer) ? Breadth::public_suffix_signer : Breadth::usual;
}

// The breadth of an entry without a signer.
Breadth BroadDomains::of_key(std::string_view key) const noexcept {
  if (key.starts_with(kMailingListTreePrefix)) {
    key.remove_prefix(kMailingListTreePrefix.size());
    return is_public_suffix(key) ? Breadth::public_suffix : Breadth::usual;
  }
  if (key.starts_with(kMailingListPrefix)) {
    return is_organizational_domain(list_host(key.substr(kMailingListPrefix.size()))) ? Breadth::list_without_signer
                                                                                      : Breadth::usual;
  }
  if (!key.starts_with('@')) return Breadth::usual;
  const std::string_view domain = key.substr(key.starts_with("@.") ? 2 : 1);
  if (free_mail_.contains(domain)) return Breadth::free_mail;
  if (is_public_suffix(domain)) return Breadth::public_suffix;
  return breadth_of_domain(domain);
}

BroadDomains usual_broad_domains(BroadFiles files, const BroadDomains::Show& show) {
  const auto choose = [](std::string& path, const char* usual) {
    if (path.empty() && access(usual, F_OK) == 0) path = usual;
  };
  choose(files.free_mail_domains, kFreeMailDomains);
  choose(files.shared_signers, kSharedSigners);
  return {files, show};
}

}  // namespace bloomgate
