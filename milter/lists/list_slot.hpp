// Holds the lists in use. A session takes a snapshot for each decision; a reload puts new lists in.
#pragma once

#include "milter/lists/loaded_lists.hpp"
#include "milter/lists/slot.hpp"

namespace bloomgate {

using ListSlot = Slot<LoadedLists>;

}  // namespace bloomgate
