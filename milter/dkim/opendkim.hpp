// Includes libopendkim's header in a form that C++ can read. For the files of this folder that call the library.
#pragma once

#include <sys/types.h>
// libopendkim's header is written for C, which calls this type _Bool.
#define _Bool bool  // NOLINT(bugprone-reserved-identifier)
#include <dkim.h>
#undef _Bool
