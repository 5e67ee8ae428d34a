// Reads figures in Prometheus' text format (https://prometheus.io/docs/instrumenting/exposition_formats/). Memory is
// bounded whatever the text is, and lines of other programs are ignored. Pure; safe from any thread.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bloomgate {

struct ShownFigure {
  std::string name = {};    // without `bloomgate_`
  std::string labels = {};  // as they are shown, `whitelist="customers"`
  double value = 0;         // finite
};

class ShownFigures {
 public:
  static constexpr std::size_t kMostFigures = 4096;
  static constexpr std::size_t kMostLineBytes = 1024;

  // Throws std::bad_alloc.
  explicit ShownFigures(std::string_view text);

  // All figures of that name, in their order.
  std::vector<ShownFigure> all(std::string_view name) const;

  // The first figure of that name with these labels.
  std::optional<double> value(std::string_view name, std::string_view label = {}) const noexcept;

 private:
  std::vector<ShownFigure> figures_;
};

// The value of a label: `customers` in `whitelist="customers"`; empty if there is none. Names that the daemon writes
// contain no quotes.
std::string_view label_value(std::string_view labels, std::string_view name) noexcept;

}  // namespace bloomgate
