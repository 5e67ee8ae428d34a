#include "milter/doctor/shown_figures.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace bloomgate {
namespace {

constexpr std::string_view kOurs = "bloomgate_";

// `bloomgate_hits_total{whitelist="w"} 12`
std::optional<ShownFigure> read_line(std::string_view line) {
  if (!line.starts_with(kOurs) || line.size() > ShownFigures::kMostLineBytes) return std::nullopt;
  line.remove_prefix(kOurs.size());
  const std::size_t value_at = line.rfind(' ');
  if (value_at == std::string_view::npos) return std::nullopt;
  const std::string_view head = line.substr(0, value_at);
  const std::string_view text = line.substr(value_at + 1);
  ShownFigure figure;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), figure.value);
  if (error != std::errc() || stop != text.data() + text.size() || !std::isfinite(figure.value)) return std::nullopt;
  const std::size_t brace = head.find('{');
  figure.name = head.substr(0, brace);
  if (brace == std::string_view::npos) return figure;
  if (!head.ends_with('}')) return std::nullopt;
  figure.labels = head.substr(brace + 1, head.size() - brace - 2);
  return figure;
}

bool has_label(const ShownFigure& figure, std::string_view label) noexcept {
  return label.empty() || figure.labels.find(label) != std::string::npos;
}

}  // namespace

ShownFigures::ShownFigures(std::string_view text) {
  while (!text.empty() && figures_.size() < kMostFigures) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    if (auto figure = read_line(text.substr(0, end))) figures_.push_back(*std::move(figure));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

std::vector<ShownFigure> ShownFigures::all(std::string_view name) const {
  std::vector<ShownFigure> found;
  std::ranges::copy_if(figures_, std::back_inserter(found),
                       [name](const ShownFigure& figure) { return figure.name == name; });
  return found;
}

std::optional<double> ShownFigures::value(std::string_view name, std::string_view label) const noexcept {
  const auto found = std::ranges::find_if(
      figures_, [&](const ShownFigure& figure) { return figure.name == name && has_label(figure, label); });
  if (found == figures_.end()) return std::nullopt;
  return found->value;
}

std::string_view label_value(std::string_view labels, std::string_view name) noexcept {
  while (!labels.empty()) {
    const std::size_t equals = labels.find("=\"");
    if (equals == std::string_view::npos) return {};
    const std::size_t begin = equals + 2;
    const std::size_t end = labels.find('"', begin);
    if (end == std::string_view::npos) return {};
    if (labels.substr(0, equals) == name) return labels.substr(begin, end - begin);
    labels.remove_prefix(end + 1);
    if (labels.starts_with(',')) labels.remove_prefix(1);
  }
  return {};
}

}  // namespace bloomgate
