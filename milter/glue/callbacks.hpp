// The libmilter callbacks. They translate libmilter's events into calls of a Connection, and the Connection's answer at
// the end of a message into libmilter's. They decide nothing, and no exception leaves them.
//
// This is glue: only it and the other glue files include libmilter's headers.
#pragma once

#include "milter/glue/connection.hpp"

struct smfiDesc;

namespace bloomgate {

// libmilter passes no user argument to the callbacks, hence this function. Call it before libmilter starts, and not
// again while it runs. `parts` must outlive all session threads; its content may change.
void set_connection_parts(const PartsSlot* parts) noexcept;

// The description to register with libmilter.
smfiDesc callback_description() noexcept;

}  // namespace bloomgate
