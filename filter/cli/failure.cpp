#include "filter/cli/failure.hpp"

#include <sysexits.h>

#include <new>
#include <string>

#include "filter/base/error.hpp"
#include "filter/cli/command_line.hpp"
#include "filter/cli/stop_signal.hpp"

namespace bloomgate::cli {

int explain_failure(const std::function<void(std::string_view what, FailureKind kind)>& say) {
  try {
    throw;
  } catch (const UsageError& error) {
    say(error.what(), FailureKind::usage);
    return EX_USAGE;
  } catch (const BloomgateError& error) {
    say(error.what(), FailureKind::other);
    if (error.code() == ErrorCode::interrupted && stop_signal() != 0) return 128 + stop_signal();
    return exit_status(error.code());
  } catch (const std::bad_alloc&) {
    say("out of memory", FailureKind::other);
    return EX_OSERR;
  } catch (const std::exception& error) {
    say(std::string("internal error: ") + error.what(), FailureKind::other);
    return EX_SOFTWARE;
  }
}

}  // namespace bloomgate::cli
