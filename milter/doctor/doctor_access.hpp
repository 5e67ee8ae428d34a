// Whether another user could use a file. For the doctor, which is another process than the daemon. Judges only by the
// permission bits of the file and its folders.
#pragma once

#include <string>

namespace bloomgate {

// The user that runs the daemon according to the shipped unit.
inline constexpr const char* kDaemonUser = "bloomgate";

bool user_exists(const std::string& user);

// `mode` is R_OK or W_OK (access(2)). False if the user or the path does not exist. Root may do everything.
bool user_may(const std::string& user, const std::string& path, int mode);

}  // namespace bloomgate
