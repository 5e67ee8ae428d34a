// All lists in which a decision looks senders up, as loaded: the whitelists, in the order of the configuration, and the
// exact lists. The supervisor makes it; from then on it is immutable and shared by all sessions.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "config/daemon_options.hpp"
#include "filter/keep/manifest.hpp"
#include "milter/lists/loaded_filter.hpp"
#include "milter/lists/slot.hpp"
#include "milter/policy/exact_list.hpp"
#include "milter/policy/lists.hpp"

namespace bloomgate {

// An exact list that a manifest names, after it was read and compared with the manifest.
struct PublishedList {
  std::string path;
  std::string text;
};

// A whitelist, with its name in header fields and logs.
struct NamedFilter {
  std::string name;
  std::shared_ptr<const LoadedFilter> filter;  // null: it could not be loaded yet
  // The filter and its store could not be loaded at the last reload; one of them may still be arriving.
  bool awaits_pair = false;
  std::shared_ptr<const SignedManifest> manifest = {};  // the manifest that allows it; null: no key is trusted
  // The revoked entries that are published with the layers of the folder; null: the manifest names no such list. It
  // counts as long as the whitelist is configured, even after the whitelist itself has become too old to be used.
  std::shared_ptr<const PublishedList> revoked = {};
  std::string not_remembered = {};  // why the manifest could not be stored (taken_manifests.hpp); empty: it is
};

struct ExactListPart {
  std::shared_ptr<const ExactList> list = {};  // null: none is configured or published, or it is lost
  bool is_lost = false;                        // the configured file cannot be read, or not yet
  std::uint64_t left_out = 0;                  // invalid lines, whose entries are missing from the list

  bool is_configured() const noexcept { return list != nullptr || is_lost; }
};

struct ListParts {
  std::vector<NamedFilter> whitelists = {};
  ExactListPart revoked = {};
  ExactListPart extra = {};
  ExactListPart opt_out = {};
};

// The exact lists, in the order in which they are shown: the option of each, what its file lists, and its member.
struct NamedExactList {
  std::string_view name;
  ListOf of;
  std::string DaemonOptions::* path;  // empty: none is configured
  ExactListPart ListParts::* part;
};
inline constexpr std::array kExactLists = {
    NamedExactList{"revoked", ListOf::senders, &DaemonOptions::revoked, &ListParts::revoked},
    NamedExactList{"extra", ListOf::senders, &DaemonOptions::extra, &ListParts::extra},
    NamedExactList{"opt-out", ListOf::recipients, &DaemonOptions::opt_out, &ListParts::opt_out}};

class LoadedLists {
 public:
  LoadedLists() = default;  // empty
  explicit LoadedLists(ListParts parts) : parts_(std::move(parts)) {
    for (const NamedFilter& each : parts_.whitelists) views_.push_back({each.name, each.filter.get()});
  }
  // The views point into this object.
  LoadedLists(const LoadedLists&) = delete;
  LoadedLists& operator=(const LoadedLists&) = delete;

  const ListParts& parts() const noexcept { return parts_; }

  // The whitelist whose store has that identity; null if there is none.
  const NamedFilter* with_store(std::uint64_t identity) const noexcept {
    for (const NamedFilter& each : parts_.whitelists) {
      if (each.filter && each.filter->store() != nullptr && each.filter->store()->identity() == identity) {
        return &each;
      }
    }
    return nullptr;
  }

  // The lists in the form for decide(). Valid as long as this object.
  Lists lists() const noexcept {
    return {.whitelists = views_,
            .revoked = parts_.revoked.list.get(),
            .extra = parts_.extra.list.get(),
            .revoked_is_configured = parts_.revoked.is_configured(),
            .opt_out = parts_.opt_out.list.get(),
            .opt_out_is_configured = parts_.opt_out.is_configured()};
  }

 private:
  ListParts parts_;
  std::vector<NamedWhitelist> views_;
};

// Holds the lists in use. A session takes a snapshot for each decision; a reload replaces the lists.
using ListSlot = Slot<LoadedLists>;

}  // namespace bloomgate
