#include "filter/cli/commands/fpr_plot.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "filter/base/number_text.hpp"

namespace bloomgate::cli {
namespace {

constexpr std::string_view kTitle = "<title>False-positive rate over bits per entry</title>";

// From bits and rates to places in a picture: (0, 0) is its upper left corner.
class Axes {
 public:
  Axes(const FprPlot& plot, double width, double height) : width_(width), height_(height) {
    first_bits_ = plot.curves.front().points.front().bits_per_entry;
    last_bits_ = plot.curves.front().points.back().bits_per_entry;
    double lowest = plot.fpr;
    for (const FprCurve& curve : plot.curves) lowest = std::min(lowest, curve.points.back().fpr);
    decades_ = std::max(1, static_cast<int>(std::ceil(-std::log10(lowest))));
  }

  double x(double bits) const { return (bits - first_bits_) / (last_bits_ - first_bits_) * width_; }
  double y(double fpr) const { return std::min(1.0, -std::log10(fpr) / decades_) * height_; }

  int decades() const { return decades_; }  // the scale ends at 10^-decades
  // Whole bits per entry, a few of them.
  std::vector<int> bits_marks() const {
    const int step = last_bits_ > 32 ? 8 : 4;
    std::vector<int> marks;
    for (int bits = step; bits <= static_cast<int>(last_bits_); bits += step) marks.push_back(bits);
    return marks;
  }

 private:
  double width_;
  double height_;
  double first_bits_;
  double last_bits_;
  int decades_;
};

std::string decade_text(int decade) {
  return decade <= 5 ? fmt::format("{:g} %", std::pow(10, 2 - decade)) : fmt::format("1e-{} %", decade - 2);
}

// Between the points of a curve the logarithm of the rate is a straight line.
double rate_at(const FprCurve& curve, double bits) {
  const auto next = std::ranges::lower_bound(curve.points, bits, {}, &FprPoint::bits_per_entry);
  if (next == curve.points.begin()) return next->fpr;
  if (next == curve.points.end()) return curve.points.back().fpr;
  const FprPoint& before = *(next - 1);
  const double share = (bits - before.bits_per_entry) / (next->bits_per_entry - before.bits_per_entry);
  return std::exp(std::log(before.fpr) * (1 - share) + std::log(next->fpr) * share);
}

// Dots, two in a column and four in a row of characters (Unicode block U+2800).
class BrailleCanvas {
 public:
  BrailleCanvas(std::size_t columns, std::size_t rows) : columns_(columns), cells_(columns * rows) {}

  std::size_t width() const { return 2 * columns_; }
  std::size_t height() const { return 4 * (cells_.size() / columns_); }

  void set(std::size_t x, std::size_t y) {
    constexpr std::array<std::array<unsigned char, 2>, 4> kDots = {
        {{0x01, 0x08}, {0x02, 0x10}, {0x04, 0x20}, {0x40, 0x80}}};
    if (x < width() && y < height()) cells_[y / 4 * columns_ + x / 2] |= kDots[y % 4][x % 2];
  }

  // A row with one of its characters replaced by a mark, if the row has it.
  std::string row(std::size_t row, std::size_t mark_column, std::size_t mark_row) const {
    std::string text;
    for (std::size_t column = 0; column < columns_; ++column) {
      const unsigned char dots = cells_[row * columns_ + column];
      if (row == mark_row && column == mark_column) {
        text += "\u25cf";
      } else if (dots == 0) {
        text += ' ';
      } else {
        // U+2800 + dots in UTF-8.
        text += '\xe2';
        text += static_cast<char>(0xa0 | dots >> 6);
        text += static_cast<char>(0x80 | (dots & 0x3f));
      }
    }
    text.erase(text.find_last_not_of(' ') + 1);
    return text;
  }

 private:
  std::size_t columns_;
  std::vector<unsigned char> cells_;
};

std::string choice_text(const FprPlot& plot) {
  return fmt::format("{} at {:g} bits per entry ({})", format_rate(plot.fpr),
                     std::round(plot.bits_per_entry * 100) / 100, plot.curves[plot.chosen].name);
}

}  // namespace

std::string fpr_plot_svg(const FprPlot& plot) {
  constexpr double kWidth = 640;
  constexpr double kHeight = 400;
  constexpr double kLeft = 80;
  constexpr double kTop = 40;
  // Colours that colour-blind people can tell apart (Okabe and Ito); dashes where one curve covers another.
  constexpr std::array<std::string_view, 5> kStyles = {
      "stroke=\"#0072b2\" stroke-width=\"3\"", "stroke=\"#d55e00\" stroke-width=\"2\"",
      "stroke=\"#009e73\" stroke-width=\"2\" stroke-dasharray=\"8 6\"",
      "stroke=\"#cc79a7\" stroke-width=\"2\" stroke-dasharray=\"2 6\"", "stroke=\"#e69f00\" stroke-width=\"2\""};
  const Axes axes(plot, kWidth, kHeight);
  std::string svg = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" height=\"{1}\" "
      "font-family=\"sans-serif\" font-size=\"13\">\n{4}\n"
      "<rect width=\"{0}\" height=\"{1}\" fill=\"white\"/>\n<g transform=\"translate({2} {3})\">\n",
      kLeft + kWidth + 40, kTop + kHeight + 70, kLeft, kTop, kTitle);
  for (int decade = 0; decade <= axes.decades(); ++decade) {
    const double y = axes.y(std::pow(10, -decade));
    svg += fmt::format(
        "<path d=\"M0 {0:.1f}H{1}\" stroke=\"#ddd\"/><text x=\"-8\" y=\"{2:.1f}\" text-anchor=\"end\">{3}</text>\n", y,
        kWidth, y + 4, decade_text(decade));
  }
  for (const int bits : axes.bits_marks()) {
    svg += fmt::format(
        "<path d=\"M{0:.1f} 0V{1}\" stroke=\"#ddd\"/><text x=\"{0:.1f}\" y=\"{2}\" text-anchor=\"middle\">{3}</text>\n",
        axes.x(bits), kHeight, kHeight + 20, bits);
  }
  for (std::size_t i = 0; i < plot.curves.size(); ++i) {
    const std::string_view style = kStyles[i % kStyles.size()];
    svg += fmt::format("<polyline fill=\"none\" {} points=\"", style);
    for (const FprPoint& point : plot.curves[i].points) {
      svg += fmt::format("{:.1f},{:.1f} ", axes.x(point.bits_per_entry), axes.y(point.fpr));
    }
    const double y = 20 + 20 * static_cast<double>(i);
    svg += fmt::format("\"/>\n<path d=\"M{0} {1}h40\" {2}/><text x=\"{3}\" y=\"{4}\">{5}</text>\n", kWidth - 150, y,
                       style, kWidth - 100, y + 4, plot.curves[i].name);
  }
  svg += fmt::format(
      "<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"6\"/>\n<text x=\"{}\" y=\"-16\" text-anchor=\"middle\">{}</text>\n"
      "<text x=\"{}\" y=\"{}\" text-anchor=\"middle\">bits per entry</text>\n</g>\n</svg>\n",
      axes.x(plot.bits_per_entry), axes.y(plot.fpr), kWidth / 2, choice_text(plot), kWidth / 2, kHeight + 45);
  return svg;
}

bool is_fpr_plot(std::string_view start) {
  return start.starts_with("<svg ") && start.find(kTitle) != std::string_view::npos;
}

std::string fpr_plot_text(const FprPlot& plot, std::size_t columns, std::size_t rows) {
  constexpr std::size_t kLabel = 10;  // with the axis
  BrailleCanvas canvas(std::max<std::size_t>(columns, 40) - kLabel - 1, rows);
  const auto last_x = static_cast<double>(canvas.width() - 1);
  const Axes axes(plot, last_x, static_cast<double>(canvas.height() - 1));
  const FprCurve& curve = plot.curves[plot.chosen];
  const double first_bits = curve.points.front().bits_per_entry;
  const double span = curve.points.back().bits_per_entry - first_bits;
  for (std::size_t x = 0; x < canvas.width(); ++x) {
    const double bits = first_bits + static_cast<double>(x) / last_x * span;
    canvas.set(x, static_cast<std::size_t>(std::lround(axes.y(rate_at(curve, bits)))));
  }
  const auto column_of = [&](double bits) { return static_cast<std::size_t>(std::lround(axes.x(bits))) / 2; };
  const auto row_of = [&](double fpr) { return static_cast<std::size_t>(std::lround(axes.y(fpr))) / 4; };
  std::vector<std::string> labels(rows);
  for (int decade = 0; decade <= axes.decades(); ++decade) labels[row_of(std::pow(10, -decade))] = decade_text(decade);
  std::string text = "FPR over bits per entry\n";
  for (std::size_t row = 0; row < rows; ++row) {
    text += fmt::format("{:>8} {}", labels[row], labels[row].empty() ? "\u2502" : "\u2524") +
            canvas.row(row, column_of(plot.bits_per_entry), row_of(plot.fpr)) + '\n';
  }
  std::string marks(kLabel, ' ');
  for (const int bits : axes.bits_marks()) {
    const std::string mark = std::to_string(bits);
    const std::size_t at = kLabel + column_of(bits) + 1 - mark.size();
    if (at > marks.size()) marks.resize(at, ' ');
    marks += mark;
  }
  return text + marks + "\n\u25cf " + choice_text(plot) + '\n';
}

}  // namespace bloomgate::cli
