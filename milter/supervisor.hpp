// The daemon's life after its start: waits for events, loads the whitelist again when asked, and ends when told to.
// Runs in the main thread; sessions run in libmilter's and see nothing of it but the slot's content.
#pragma once

#include <spdlog/logger.h>

#include <memory>
#include <string>

#include "milter/filter_slot.hpp"
#include "milter/wakeup.hpp"

namespace bloomgate {

class Supervisor {
 public:
  // Loads whitelists from `path` into `slot`; `lock`: see LoadedFilter. The references must outlive the object.
  Supervisor(std::string path, bool lock, FilterSlot& slot, Wakeup& wakeup, std::shared_ptr<spdlog::logger> log)
      : path_(std::move(path)), lock_(lock), slot_(slot), wakeup_(wakeup), log_(std::move(log)) {}

  // The first load. Throws BloomgateError where the whitelist cannot be used; with `allow_missing` it says so in the
  // log, and the slot stays empty.
  void load_first(bool allow_missing);

  // Tells systemd that the daemon is ready, and serves events until the daemon is to end. Returns whether it was told
  // to; else libmilter has ended by itself.
  bool run();

  // Loads the file again. Where it cannot be used, whatever is in the slot stays there.
  void reload();

 private:
  void load();
  void report_damage() const;
  std::string current_status() const;

  std::string path_;
  bool lock_;
  FilterSlot& slot_;
  Wakeup& wakeup_;
  std::shared_ptr<spdlog::logger> log_;
};

}  // namespace bloomgate
