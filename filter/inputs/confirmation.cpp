#include "filter/inputs/confirmation.hpp"

#include "filter/base/error.hpp"
#include "filter/base/shell_word.hpp"

namespace bloomgate {

Confirmation::Confirmation(const std::string& store_path, const MappedFilter& filter) {
  if (!store_path.empty()) store_ = open_store(store_path, filter.header().store_identity, filter.path());
}

bool Confirmation::confirms(std::string_view key) const {
  if (!store_) return true;
  switch (store_->find(store_->hash_of(key))) {
    case StoreAnswer::present:
      return true;
    case StoreAnswer::absent:
      return false;
    case StoreAnswer::damaged:
      throw BloomgateError(ErrorCode::bad_body_checksum,
                           store_->path() + ": a page is damaged; 'bloomgate verify " +
                               shell_word(store_->path(), "FILE") + "' says where; copy or build the store again",
                           {.path = store_->path()});
    case StoreAnswer::unreadable:
    case StoreAnswer::not_cached:
      break;
  }
  throw BloomgateError(ErrorCode::cannot_read, store_->path() + ": a page cannot be read; check the disk",
                       {.path = store_->path()});
}

FoundEntry Confirmation::find(const FilterView& view, const Entry& entry) const {
  const FoundEntry found = view.find(entry);
  if (found.match != Match::address || confirms(entry.key())) return found;
  return view.find_by_domain(entry.key().substr(entry.local_part().size()));
}

}  // namespace bloomgate
