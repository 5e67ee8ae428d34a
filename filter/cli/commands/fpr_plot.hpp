// Draws false-positive rates over bits per entry, as an SVG picture or with the characters of a terminal. The scale of
// the rates is logarithmic, so the curves are nearly straight. Pure functions.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace bloomgate::cli {

struct FprPoint {
  double bits_per_entry;
  double fpr;
};

struct FprCurve {
  std::string_view name;
  std::vector<FprPoint> points;  // in ascending order of the bits
};

struct FprPlot {
  std::vector<FprCurve> curves;  // at least one, each of at least two points
  std::size_t chosen = 0;        // which curve the choice is on
  double bits_per_entry = 0;     // the choice, which is marked
  double fpr = 0;
};

// All curves, with a legend.
std::string fpr_plot_svg(const FprPlot& plot);

// Whether a file that begins so is such a picture.
bool is_fpr_plot(std::string_view start);

// The chosen curve in dots of Braille characters (UTF-8), with that many columns (at least 40) and rows.
std::string fpr_plot_text(const FprPlot& plot, std::size_t columns, std::size_t rows);

}  // namespace bloomgate::cli
