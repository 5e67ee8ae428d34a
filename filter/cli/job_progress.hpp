// Shows what a job tells on standard error: its lines, and while it works how far it has come.
#pragma once

#include <unistd.h>

#include <functional>
#include <optional>
#include <string_view>
#include <utility>

#include "filter/cli/progress.hpp"
#include "filter/jobs/job_observer.hpp"

namespace bloomgate::cli {

class JobProgress : public JobObserver {
 public:
  // `quiet`: warnings and bad lines alone.
  explicit JobProgress(bool quiet) : is_quiet_(quiet) { use(Progress::Style::none, {}); }

  void begin(std::function<WorkState()> look) override {
    use(is_quiet_ ? Progress::Style::none : Progress::style_for(STDERR_FILENO), std::move(look));
  }
  void end() noexcept override { progress_->stop(); }
  void warn(std::string_view line) override { progress_->show(line); }
  void note(std::string_view line) override {
    if (!is_quiet_) warn(line);
  }

 private:
  void use(Progress::Style style, std::function<WorkState()> look) {
    progress_.emplace(style, std::move(look), Progress::interval_of(style));
  }

  bool is_quiet_;
  std::optional<Progress> progress_;
};

}  // namespace bloomgate::cli
