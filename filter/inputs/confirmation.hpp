// Confirms exactly what a filter has found, by a look-up in the store of the same build. Used by `bloomgate query` and
// `verify`. Immutable; safe from any thread.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "filter/file/mapped_filter.hpp"
#include "filter/store/store_file.hpp"

namespace bloomgate {

class Confirmation {
 public:
  // Opens the filter's store at `store_path`; an empty path confirms everything. Throws what open_store() throws.
  Confirmation(const std::string& store_path, const MappedFilter& filter);

  // Null if the path was empty.
  const StoreFile* store() const noexcept { return store_.get(); }

  // Whether an address, whose key the filter has found, is an entry. Throws BloomgateError{bad_body_checksum,
  // cannot_read} if the store cannot answer.
  bool confirms(std::string_view key) const;

  // FilterView::find(), where an address counts only if it is confirmed.
  FoundEntry find(const FilterView& view, const Entry& entry) const;

 private:
  std::unique_ptr<StoreFile> store_;
};

}  // namespace bloomgate
