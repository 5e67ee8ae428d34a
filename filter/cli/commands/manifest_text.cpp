#include "filter/cli/commands/manifest_text.hpp"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <iostream>
#include <vector>

#include "filter/base/error.hpp"
#include "filter/base/number_text.hpp"
#include "filter/base/printable.hpp"
#include "filter/file/output_check.hpp"
#include "filter/keep/layer_folder.hpp"

namespace bloomgate::cli {
namespace {

std::string text_of(std::chrono::sys_seconds time) {
  return format_time(std::chrono::system_clock::to_time_t(time));
}

struct ShownFile {
  std::string name;
  std::string fault;  // empty: it is as the manifest says
};

struct ShownManifest {
  std::optional<SignedManifest> read;
  std::string fault = {};  // why it cannot be used
  std::vector<ShownFile> files = {};
  std::vector<std::string> unnamed = {};
};

std::string path_of(const std::string& whitelist, const PublishedFile& file) {
  return is_folder(whitelist) ? (std::filesystem::path(whitelist) / file.name).string() : resolve_link(whitelist);
}

ShownFile look_at(const std::string& whitelist, const PublishedFile& file) {
  ShownFile shown{file.name, {}};
  try {
    require_published(file, path_of(whitelist, file));
  } catch (const BloomgateError& error) {
    shown.fault = error.what();
  }
  return shown;
}

ShownManifest look_at(const std::string& whitelist) {
  ShownManifest shown;
  try {
    shown.read = read_manifest(whitelist);
  } catch (const BloomgateError& error) {
    shown.fault = error.what();
  }
  if (!shown.read) return shown;
  const std::vector<PublishedFile>& files = shown.read->manifest.files;
  for (const PublishedFile& file : files) shown.files.push_back(look_at(whitelist, file));
  if (!is_folder(whitelist)) return shown;
  for (const Layer& layer : layers_in(whitelist)) {
    const std::string name = std::filesystem::path(layer.path).filename().string();
    if (std::ranges::find(files, name, &PublishedFile::name) == files.end()) shown.unnamed.push_back(name);
  }
  return shown;
}

}  // namespace

std::string written_text(const WrittenManifest& written) {
  const Manifest& manifest = written.manifest;
  return written.path + ": list " + manifest.list + ", number " + std::to_string(manifest.number) + ", made " +
         text_of(manifest.made) + ", holds until " + text_of(manifest.holds_until);
}

void print_written(const char* label, const std::optional<WrittenManifest>& written) {
  if (written) std::cout << label << written_text(*written) << '\n';
}

Json written_json(const std::optional<WrittenManifest>& written) {
  if (!written) return nullptr;
  const Manifest& manifest = written->manifest;
  return {{"file", written->path},
          {"list", manifest.list},
          {"number", manifest.number},
          {"made", text_of(manifest.made)},
          {"holds_until", text_of(manifest.holds_until)},
          {"signer", written->signer.text()},
          {"next_key", manifest.next_key ? Json(manifest.next_key->text()) : Json(nullptr)}};
}

void print_manifest(const std::string& whitelist) {
  const ShownManifest shown = look_at(whitelist);
  if (!shown.fault.empty()) std::cout << "manifest         cannot be used: " << shown.fault << '\n';
  if (!shown.read) return;
  const Manifest& manifest = shown.read->manifest;
  // In seconds: a date after 2262 is none in nanoseconds.
  const bool is_over =
      manifest.holds_until < std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
  std::cout << "manifest         " << manifest_path(whitelist) << "\nlist             " << manifest.list
            << "\nnumber           " << manifest.number << "\nmade             " << text_of(manifest.made)
            << "\nholds until      " << text_of(manifest.holds_until)
            << (is_over ? ", and has expired: write another with 'bloomgate sign --key FILE'" : "")
            << "\nsigner           " << shown.read->signer.text() << '\n';
  if (manifest.next_key) std::cout << "next key         " << manifest.next_key->text() << '\n';
  for (const ShownFile& file : shown.files) {
    std::cout << "names            " << file.name << ", " << (file.fault.empty() ? "which is as it says" : file.fault)
              << '\n';
  }
  for (const std::string& name : shown.unnamed) {
    std::cout << "does not name    " << printable(name) << ", and readers of the manifest do not use it\n";
  }
}

Json manifest_json(const std::string& whitelist) {
  const ShownManifest shown = look_at(whitelist);
  if (!shown.read && shown.fault.empty()) return nullptr;
  Json json = shown.read ? written_json(WrittenManifest{*shown.read, manifest_path(whitelist)})
                         : Json{{"file", manifest_path(whitelist)}};
  Json files = Json::array();
  for (const ShownFile& file : shown.files) files.push_back({{"name", file.name}, {"fault", file.fault}});
  Json unnamed = Json::array();
  for (const std::string& name : shown.unnamed) unnamed.push_back(name);
  json.update(Json{{"files", std::move(files)}, {"unnamed", std::move(unnamed)}, {"fault", shown.fault}});
  return json;
}

}  // namespace bloomgate::cli
