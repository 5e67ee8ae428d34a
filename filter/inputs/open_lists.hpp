// Open lists, and the progress of long work with them.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "filter/base/work_state.hpp"
#include "filter/engine/body_writer.hpp"
#include "filter/ingest/blocks.hpp"
#include "filter/ingest/format.hpp"
#include "filter/inputs/store_inputs.hpp"

namespace bloomgate {

struct OpenLists {
  // `files` come from list_files(), `format_name` is as in --format; `stop` ends the reading. Throws what make_format()
  // and Blocks throw.
  OpenLists(const std::vector<std::string>& files, const std::string& format_name, const std::atomic<bool>& stop,
            BlockOrder order = BlockOrder::any);

  WorkState state() const;

  std::unique_ptr<Format> format;
  Blocks blocks;
};

// If a program that writes into a pipe fails at once, it sends nothing, as for an empty list. Throws
// BloomgateError{bad_input}, which says `outcome` ("no filter was built"), if that happened to one of them. Only once
// all was read.
void require_sent(const Blocks& blocks, const std::string& outcome);

// The progress of lists and stores together, if their sizes are known.
WorkState state_of(const OpenLists& lists, const StoreInputs& stores);

WorkState state_of(const WriteProgress& written);

}  // namespace bloomgate
