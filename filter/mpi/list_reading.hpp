// The lists that one rank reads: its own lists, or its share of lists that all ranks see; and the progress of that.
// Used by one thread, except look().
#pragma once

#include <atomic>
#include <cstdint>
#include <list>
#include <string>
#include <string_view>
#include <vector>

#include "filter/base/work_state.hpp"
#include "filter/ingest/reject_log.hpp"
#include "filter/inputs/open_lists.hpp"
#include "filter/mpi/communicator.hpp"
#include "filter/mpi/hash_exchange.hpp"

namespace bloomgate::mpi {

class ListReading {
 public:
  // With `local_lists` each rank has its own lists. `stop` ends the reading; it and the communicator must outlive the
  // object.
  ListReading(const Communicator& communicator, bool local_lists, const std::atomic<bool>& stop)
      : communicator_(communicator), local_lists_(local_lists), stop_(stop) {}

  // Opens lists; `rejects`, which must outlive this object, gets their rejected lines. They stay open as long as this
  // object lives. Throws what OpenLists throws.
  OpenLists& open(const std::vector<std::string>& files, const std::string& format, RejectLog& rejects);

  // Names and sizes of the lists as this rank sees them; empty if each rank has its own lists.
  std::string seen(const OpenLists& lists) const;
  // Collective. Throws BloomgateError{bad_input} unless `seen` is the same for all ranks: each reads a share of what it
  // sees, so lines would be lost if they saw different files. This cannot be checked for each rank's own lists; but the
  // lists of the options `for_all` concern all entries.
  void require_same(const std::string& seen, const std::string& for_all) const;

  // Call it before any of the lists is read. Collective.
  void take_share(OpenLists& lists);
  // From now on no list is being read.
  void end() noexcept { read_now_ = nullptr; }
  // From now on the lists are only counted, by each rank for itself.
  void set_counting(bool counting) noexcept { counting_ = counting; }

  // The progress of the reading, for the rounds that update it.
  ReadBytes& read_bytes() noexcept { return read_bytes_; }
  // The progress of all ranks, as of the last round. Without rounds it is that of this rank's share alone. Safe from
  // any thread.
  WorkState look() const;
  // A message about lists; if the same path may be another file for each rank, the rank comes before it.
  std::string named(std::string_view line) const;

 private:
  const Communicator& communicator_;
  bool local_lists_;
  const std::atomic<bool>& stop_;
  std::list<OpenLists> opened_;  // all of them: the progress may still read one before the last
  std::atomic<const OpenLists*> read_now_{nullptr};
  std::atomic<bool> counting_{false};
  std::atomic<std::uint64_t> bytes_of_all_{0};  // that all ranks will read; 0: not known
  ReadBytes read_bytes_;
};

}  // namespace bloomgate::mpi
