// What is done with a message at its end, said to libmilter: header fields taken out and put in, the quarantine, a
// refusal. Used by callbacks.cpp, in the callback of the end of a message.
//
// This is glue.
#pragma once

#include "milter/judge/answer.hpp"

struct smfi_str;

namespace bloomgate {

// Carries the edits out. False: the mail server did not take them all. Then the message must neither be lost nor go on,
// as a forged field may still be on it.
bool carry_out(smfi_str* context, const Edits& edits) noexcept;

// The libmilter answer that refuses the message.
int refuse(smfi_str* context, const Refusal& refusal) noexcept;

}  // namespace bloomgate
