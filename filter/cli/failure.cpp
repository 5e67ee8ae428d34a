#include "filter/cli/failure.hpp"

#include <sysexits.h>

#include <new>
#include <utility>

#include "filter/base/error.hpp"
#include "filter/cli/command_line.hpp"
#include "filter/cli/stop_signal.hpp"

namespace bloomgate::cli {

Failure usage_failure(std::string what) {
  return {.what = std::move(what), .kind = FailureKind::usage, .status = EX_USAGE, .code = "usage"};
}

Failure current_failure() {
  try {
    throw;
  } catch (const UsageError& error) {
    return usage_failure(error.what());
  } catch (const BloomgateError& error) {
    const bool is_signal = error.code() == ErrorCode::interrupted && stop_signal() != 0;
    return {.what = error.what(),
            .status = is_signal ? 128 + stop_signal() : exit_status(error.code()),
            .code = error_code_name(error.code()),
            .path = error.details().path,
            .offset = error.details().offset};
  } catch (const std::bad_alloc&) {
    return {.what = "out of memory", .status = EX_OSERR, .code = error_code_name(ErrorCode::out_of_memory)};
  } catch (const std::exception& error) {
    return {.what = std::string("internal error: ") + error.what(), .status = EX_SOFTWARE, .code = "internal_error"};
  }
}

Json json_of(const Failure& failure) {
  return {{"error",
           {{"code", failure.code},
            {"message", failure.what},
            {"path", failure.path.empty() ? Json(nullptr) : Json(failure.path)},
            {"offset", failure.offset ? Json(*failure.offset) : Json(nullptr)}}}};
}

}  // namespace bloomgate::cli
