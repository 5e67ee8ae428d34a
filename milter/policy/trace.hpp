// The steps of one decision as data, for a person who asks why. decide() writes them, explain.hpp shows them. Contains
// raw bytes from the sender: the code that shows them escapes them. Used by one thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace bloomgate {

struct TraceStep {
  std::string_view name = {};  // of the step: a literal, "header-from"
  std::string subject = {};    // what the step is about, as it arrived; may be empty
  std::string key = {};        // the canonical bytes that were looked up; empty if there are none
  std::string outcome = {};
  std::string entry = {};       // the domain entry that was found; empty if there is none
  std::string_view proof = {};  // what proved it: a literal, "same-from"; empty if it is not proven

  friend bool operator==(const TraceStep&, const TraceStep&) = default;
};

// Values that only few steps have.
struct StepFindings {
  std::string_view entry = {};
  std::string_view proof = {};  // a literal
};

class Trace {
 public:
  // If there is no memory for the step, it is omitted, and the trace is incomplete.
  void add(std::string_view name, std::string_view subject, std::string_view key, std::string_view outcome,
           const StepFindings& found = {}) noexcept {
    try {
      steps_.push_back({.name = name,
                        .subject = std::string(subject),
                        .key = std::string(key),
                        .outcome = std::string(outcome),
                        .entry = std::string(found.entry),
                        .proof = found.proof});
    } catch (...) {
      is_complete_ = false;
    }
  }

  // Drops all steps and marks the trace as incomplete.
  void lose() noexcept {
    steps_.clear();
    is_complete_ = false;
  }

  const std::vector<TraceStep>& steps() const noexcept { return steps_; }
  bool is_complete() const noexcept { return is_complete_; }

 private:
  std::vector<TraceStep> steps_;
  bool is_complete_ = true;
};

}  // namespace bloomgate
