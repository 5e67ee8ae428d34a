#include "config/update_faults.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <optional>
#include <span>

#include "filter/base/error.hpp"
#include "filter/system/file_io.hpp"

namespace bloomgate {
namespace {

constexpr std::size_t kMostFaults = 20;
constexpr std::size_t kMostBytes = 1000;  // of a sentence
constexpr std::size_t kFields = 5;        // since when, when last, step, exit code, last line: scripts/bloomgate-update

// The part of the file's text that these sentences can need; nothing if there is no file.
std::optional<std::string> text_of(const std::string& path) {
  struct stat status = {};
  try {
    const FileDescriptor file = open_regular_file(path, "a text file", status);
    std::string text(std::min<std::size_t>(static_cast<std::size_t>(status.st_size), kMostFaults * kMostBytes), '\0');
    if (read_at(file.get(), std::as_writable_bytes(std::span(text)), 0) == 0) return text;
  } catch (const BloomgateError& error) {
    if (stat(path.c_str(), &status) != 0 && (errno == ENOENT || errno == ENOTDIR)) return std::nullopt;
  }
  return "\n";  // the file exists
}

std::string sentence_of(std::string_view line, const std::string& path) {
  std::array<std::string_view, kFields> fields;
  for (std::size_t at = 0; at < kFields; ++at) {
    const std::size_t end = at + 1 == kFields ? line.size() : std::min(line.find('\t'), line.size());
    fields[at] = line.substr(0, end);
    line.remove_prefix(std::min(end + 1, line.size()));
  }
  const auto& [since, last, step, code, said] = fields;
  if (since.empty() || last.empty() || step.empty()) {
    return "bloomgate-update has failed, and " + path + " does not say how";
  }
  std::string text = "bloomgate-update: ";
  text.append(step).append(" has failed since ").append(since);
  if (since != last) text.append(", last at ").append(last);
  if (!said.empty()) text.append(": ").append(said);
  return text.substr(0, kMostBytes);
}

}  // namespace

std::string update_faults_file(std::string_view whitelist) {
  while (whitelist.size() > 1 && whitelist.ends_with('/')) whitelist.remove_suffix(1);
  return std::string(whitelist) + ".update";
}

std::vector<std::string> update_faults(std::string_view whitelist) {
  const std::string path = update_faults_file(whitelist);
  const std::optional<std::string> text = text_of(path);
  std::vector<std::string> faults;
  if (!text) return faults;
  std::string_view rest = *text;
  while (!rest.empty() && faults.size() < kMostFaults) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    faults.push_back(sentence_of(line, path));
    rest.remove_prefix(std::min(line.size() + 1, rest.size()));
  }
  return faults;
}

}  // namespace bloomgate
