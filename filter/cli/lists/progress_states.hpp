// What a Progress shows of building: reading lists and stores, and then writing. Used by `bloomgate build` and
// `update`.
#pragma once

#include "filter/build/body_writer.hpp"
#include "filter/cli/lists/list_options.hpp"
#include "filter/cli/lists/store_inputs.hpp"

namespace bloomgate::cli {

// Of lists and stores together, if it is known how much they are.
Progress::State state_of(const OpenLists& lists, const StoreInputs& stores);

Progress::State state_of(const WriteProgress& written);

}  // namespace bloomgate::cli
