#include "milter/daemon/machine_name.hpp"

#include <unistd.h>

#include <array>

#include "config/daemon_options.hpp"

namespace bloomgate {

std::string machine_name() {
  std::array<char, 256> name = {};
  if (gethostname(name.data(), name.size() - 1) != 0 || !is_host_name(name.data())) return "localhost";
  return name.data();
}

}  // namespace bloomgate
