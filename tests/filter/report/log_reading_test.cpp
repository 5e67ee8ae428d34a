#include "filter/report/log_reading.hpp"

#include <filesystem>

#include "filter/base/error.hpp"
#include "filter/report/figures_json.hpp"
#include "filter/report/report_pages.hpp"
#include "tests/support/berlin_time.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/errors.hpp"
#include "tests/support/places.hpp"
#include "tests/support/temporary_folder.hpp"

namespace bloomgate::test {
namespace {

using namespace std::chrono_literals;

TEST_CASE_METHOD(InFolder,
                 "of logs the lines are counted, and those of the daemon by whether they are dated and new enough") {
  const std::string daemon = " mx bloomgate-milter[1]: queue_id=1 decision=check reason=not-listed\n";
  const std::string unasked = " mx postfix/smtpd[1]: warning: connect to Milter service unix:/b: x\n";
  write_file(folder.file("one"), "2026-11-20T09:59:59Z" + daemon + "2026-11-20T10:00:00Z" + daemon +
                                     "2026-11-31T10:00:00Z" + daemon + "\n" + "2026-11-20T09:59:59Z" + unasked +
                                     "2026-11-20T10:00:00Z" + unasked + "2026-11-31T10:00:00Z" + unasked);
  write_file(folder.file("two"), "2026-11-20T11:00:00Z" + daemon.substr(0, daemon.size() - 1));
  const std::atomic<bool> stop{false};
  LogReading reading(utc(2026, 11, 20, 10h), utc(2026, 11, 22, 0h), 2, stop);
  reading.read(folder.file("one"));
  CHECK(reading.done_bytes() == std::filesystem::file_size(folder.file("one")));
  reading.read(folder.file("two"));
  CHECK(reading.done_bytes() ==
        std::filesystem::file_size(folder.file("one")) + std::filesystem::file_size(folder.file("two")));
  const ReadCounts& counts = reading.counts();
  CHECK(counts.logs == 2);
  CHECK(counts.lines == 8);
  CHECK(counts.daemon_lines == 4);
  CHECK(counts.older_lines == 1);
  CHECK(counts.undated_lines == 1);
  CHECK(reading.figures().messages == 2);
  CHECK(reading.figures().first == utc(2026, 11, 20, 10h));
  CHECK(reading.figures().last == utc(2026, 11, 20, 11h));
  CHECK(reading.figures().unasked.at("unix:/b").sessions == 1);
  CHECK(error_code_of([&] { reading.read(folder.file("missing")); }) == ErrorCode::cannot_open);
  CHECK(counts.logs == 2);
}

// Berlin has the time of the golden pages in November.
TEST_CASE_METHOD(Berlin, "the golden log gives the golden pages and figures") {
  const std::string golden = source_folder() + "/tests/golden/report/";
  const std::atomic<bool> stop{false};
  LogReading reading(LogTime::min(), utc(2026, 11, 22, 0h), 1, stop);
  reading.read(golden + "mail.log");
  const Figures& figures = reading.figures();
  const ReportContent content = {
      .scope = scope_of(figures, reading.counts()), .bars = bars_of(figures), .sections = sections_of(figures, 10)};
  CHECK(report_text(content) == read_file(golden + "report.txt"));
  CHECK(report_html(content) == read_file(golden + "report.html"));
  CHECK(figures_json(figures, reading.counts(), 10) == read_file(golden + "report.json"));
}

}  // namespace
}  // namespace bloomgate::test
