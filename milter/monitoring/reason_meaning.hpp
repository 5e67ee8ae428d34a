// What the reason of a decision means, for a person who sees its name on the status page or in a log.
#pragma once

#include <string_view>

#include "milter/policy/decision.hpp"

namespace bloomgate {

// One sentence in plain words, with a capital at its start and a full stop. Never fails.
std::string_view reason_meaning(Reason reason) noexcept;

}  // namespace bloomgate
