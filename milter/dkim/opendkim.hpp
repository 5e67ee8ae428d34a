// libopendkim's header, as C++ can read it. For the files of this room that call the library.
#pragma once

#include <sys/types.h>
// libopendkim's header is for C, whose name for it this is.
#define _Bool bool  // NOLINT(bugprone-reserved-identifier)
#include <dkim.h>
#undef _Bool
