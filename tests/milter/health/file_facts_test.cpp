// What the files of lists tell the rules.
#include "milter/health/file_facts.hpp"

#include <filesystem>

#include "milter/health/rules.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/filter_files.hpp"
#include "tests/support/temporary_folder.hpp"

namespace bloomgate::test {
namespace {

struct Lists : InFolder {
  DaemonCommand command = read_daemon_command({"--config", "/dev/null"});
  const std::string path = folder.file("w.bloom");

  Lists() { command.options.whitelists = {{.name = "w", .path = path}}; }

  std::vector<std::string> rules() const {
    std::vector<std::string> names;
    for (const HealthFinding& each : findings_of(facts_of_files(command))) names.emplace_back(each.rule);
    return names;
  }

  using Names = std::vector<std::string>;
};

TEST_CASE_METHOD(Lists, "good files need no action") {
  build_filter(path, {"a@example.org", "b@example.org"}, {.sender_domains = true});
  const HealthFacts facts = facts_of_files(command);
  CHECK(facts.whitelists.at(0).entries == 2);
  CHECK_FALSE(facts.running);
  CHECK(findings_of(facts).empty());
}

TEST_CASE_METHOD(Lists, "a file that is missing, empty, old, or much smaller than the one before it is found") {
  CHECK(rules() == Names{"whitelist-unusable"});
  build_filter(path, {}, {.sender_domains = true});
  CHECK(rules() == Names{"whitelist-empty"});
  build_filter(path, {"a@example.org"}, {.sender_domains = true});
  CHECK(rules().empty());
  build_filter(path + ".1", {"a@example.org", "b@example.org", "c@example.org"}, {.sender_domains = true});
  CHECK(rules() == Names{"whitelist-shrunk"});
  write_file(path + ".1", "not a filter");
  CHECK(rules().empty());
  std::filesystem::last_write_time(path, std::filesystem::file_time_type::clock::now() - std::chrono::days(9));
  CHECK(rules() == Names{"whitelist-old"});
  write_file(path, "not a filter");
  CHECK(rules() == Names{"whitelist-unusable"});
}

TEST_CASE_METHOD(Lists, "a file without its senders' domains, and an update that failed, are found") {
  build_filter(path, {"a@example.org"});
  write_file(path + ".update", "2026-11-20T03:00:00Z\t2026-11-20T03:00:00Z\tbuild\t65\tno room\n");
  CHECK(rules() == Names{"whitelist-lacks-domains", "update-fails"});
}

TEST_CASE_METHOD(Lists, "an exact list that cannot be read, or leaves lines out, is found with the line") {
  build_filter(path, {"a@example.org"}, {.sender_domains = true});
  command.options.revoked = folder.file("revoked");
  CHECK(rules() == Names{"exact-list-lost"});
  write_file(command.options.revoked, "joe@example.org\nno address\n");
  command.options.opt_out = folder.file("opt-out");
  write_file(command.options.opt_out, "ann@ours.example\n");
  CHECK(rules() == Names{"exact-list-lines-left-out"});
  CHECK_THAT(findings_of(facts_of_files(command)).at(0).what, Contains("the first is line 2 of "));
}

}  // namespace
}  // namespace bloomgate::test
