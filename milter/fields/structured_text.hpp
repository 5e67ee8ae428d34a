// Where the policy includes it from; it stands in filter/address, because `bloomgate harvest` reads mail, too.
#pragma once

#include "filter/address/structured_text.hpp"
