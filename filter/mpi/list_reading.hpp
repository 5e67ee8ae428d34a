// The lists that one rank reads: all of its own, or a share of those that all ranks see; and what a Progress shows of
// that. Used by one thread, but for look().
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
  // With `local_lists` each rank has lists of its own. `stop` ends the reading; it and the communicator must outlive
  // this.
  ListReading(const Communicator& communicator, bool local_lists, const std::atomic<bool>& stop)
      : communicator_(communicator), local_lists_(local_lists), stop_(stop) {}

  // Lists of which `rejects`, which has to outlive this, is to tell the rejected lines. They stay open as long as this.
  // Throws what OpenLists throws.
  OpenLists& open(const std::vector<std::string>& files, const std::string& format, RejectLog& rejects);

  // Names and sizes of what this rank sees of lists; empty where each rank has lists of its own.
  std::string seen(const OpenLists& lists) const;
  // Collective. Throws BloomgateError{bad_input} unless `seen` is the same for all ranks: each reads a share of what it
  // sees, so a line would be lost where they see different files. Of lists that each rank has to itself nothing can be
  // said; but those of the options `for_all` concern all entries.
  void require_same(const std::string& seen, const std::string& for_all) const;

  // Before any of it is read. Collective.
  void take_share(OpenLists& lists);
  // No list is being read.
  void end() noexcept { read_now_ = nullptr; }
  // What is read now is only counted, by each rank for itself.
  void set_counting(bool counting) noexcept { counting_ = counting; }

  // How far the reading is, for the rounds that tell it.
  ReadBytes& read_bytes() noexcept { return read_bytes_; }
  // What all ranks have read, as far as the last round has told it. Without rounds there is this rank's share alone.
  // Safe from any thread.
  WorkState look() const;
  // A line about lists, with the rank before it where the same path may be another file for each.
  std::string named(std::string_view line) const;

 private:
  const Communicator& communicator_;
  bool local_lists_;
  const std::atomic<bool>& stop_;
  std::list<OpenLists> opened_;  // all of them: the progress may still look at one before the last
  std::atomic<const OpenLists*> read_now_{nullptr};
  std::atomic<bool> counting_{false};
  std::atomic<std::uint64_t> bytes_of_all_{0};  // to be read by all ranks; 0: not known
  ReadBytes read_bytes_;
};

}  // namespace bloomgate::mpi
