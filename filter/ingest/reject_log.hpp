// Counts the bad lines of lists by kind, shows the first ones of each kind, and keeps all of them in a file if asked.
//
// The reject file is itself a list: above each bad line is a comment with its origin and the reason for its rejection.
// So it can be corrected and given to `bloomgate build` again.
//
// Entries that list more senders than their writer may have meant (broad_domains.hpp) are also shown and counted; they
// stay in the list.
//
// Several workers read lists in blocks, and the line numbers of a block are known only when all blocks before it have
// been counted. So reports wait here until the reports of all blocks before them have come. Only add() is safe from
// several threads.
#pragma once

#include <cstdint>
#include <fstream>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "filter/broad/broad_domains.hpp"
#include "filter/ingest/format.hpp"

namespace bloomgate {

struct RejectedLine {
  std::uint64_t line;  // in its block, from 1
  LineFault fault;
  std::string text;         // a single line is cut where the canonicaliser stops reading
  std::uint64_t lines = 1;  // more if line ends stand between quotes
};

struct BroadEntry {
  std::uint64_t line;  // in its block, from 1
  Breadth breadth;
  std::string key;
};

// What was found in a block: how many lines, which of them are not entries, and which are broad.
struct BlockReport {
  static constexpr std::size_t kShown = 10;  // broad entries shown, whatever the number of blocks

  // Counts an entry, unless it is a usual one, and keeps what is to be shown of it.
  void add_broad(std::string_view key, Breadth breadth, std::uint64_t line);

  // Counts a blank line, and keeps a rejected one with its text.
  void add_line_without_entry(const ListLine& line, std::uint64_t number, std::string_view text);

  std::size_t input = 0;
  std::uint64_t index = 0;  // of the block in its input, from 0 without gaps
  std::uint64_t lines = 0;
  std::uint64_t blank = 0;  // lines without anything, or with a comment alone
  std::vector<RejectedLine> rejected = {};
  std::vector<BroadEntry> broad = {};  // the first ones
  BroadCounts broad_counts = {};       // all of them
  std::uint64_t excepted = 0;          // entries that an exception removes
};

class RejectLog {
 public:
  // `names` are those of the inputs. With an empty path there is no file. `show` prints a line for a person. Throws
  // BloomgateError{cannot_write}, also for a file with other content than rejected lines.
  RejectLog(const std::string& path, std::vector<std::string> names, std::function<void(std::string_view)> show);
  // Removes the file unless keep() was called: a build that fails leaves nothing behind.
  ~RejectLog();
  RejectLog(const RejectLog&) = delete;
  RejectLog& operator=(const RejectLog&) = delete;

  // For inputs of which only a share is read: `lines_before` returns how many lines of an input come before the first
  // block. It is called at most once for each input, and only if a line's number is to be shown.
  void count_from(std::function<std::uint64_t(std::size_t input)> lines_before) {
    lines_before_ = std::move(lines_before);
  }

  void add(BlockReport report);
  // Counts exceptions from an input that has no lines.
  void add_excepted(std::uint64_t entries) noexcept { excepted_ += entries; }

  std::uint64_t count() const noexcept { return count_; }  // of rejected lines
  std::uint64_t lines() const noexcept { return lines_; }  // lines that are entries, or were rejected
  // How many lines of each kind there are: "12,000 missing-at-sign, 3 empty-domain". Empty if there are none.
  std::string kinds() const;
  // Shows kinds() if there are more lines than the examples. Call it after all reports.
  void show_kinds() const;
  const BroadCounts& broad_counts() const noexcept { return broad_counts_; }
  std::uint64_t excepted() const noexcept { return excepted_; }
  // Forgets all reports, for another run over the same inputs.
  void restart();
  // Completes the file and keeps it. Throws BloomgateError{cannot_write}.
  void keep();

 private:
  struct InputState {
    std::string name;
    std::uint64_t next_index = 0;
    std::uint64_t lines = 0;                            // in the blocks before
    std::map<std::uint64_t, BlockReport> waiting = {};  // until the reports of the blocks before them have come
    std::optional<std::uint64_t> lines_before = {};     // before the first block
  };

  static constexpr std::uint64_t kExamples = 2;  // of each kind

  void log(InputState& input, const BlockReport& report);
  void log_broad(InputState& input, const BlockReport& report);
  std::string place_of(InputState& input, std::uint64_t line_of_block);

  std::string path_;
  std::function<void(std::string_view)> show_;
  std::function<std::uint64_t(std::size_t)> lines_before_;
  std::ofstream file_;
  int write_error_ = 0;  // the first one, an errno number
  std::mutex mutex_;
  std::vector<InputState> inputs_;
  std::uint64_t count_ = 0;
  std::uint64_t lines_ = 0;
  std::map<std::string_view, std::uint64_t> kinds_;  // by the name of the fault
  BroadCounts broad_counts_;
  std::uint64_t excepted_ = 0;
  bool quiet_ = false;  // everything was shown in an earlier run
};

}  // namespace bloomgate
