#include "filter/pull/pull_state.hpp"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "filter/base/error.hpp"
#include "filter/keep/manifest_rules.hpp"
#include "filter/system/file_io.hpp"
#include "filter/system/replacement.hpp"

namespace bloomgate {
namespace {

constexpr mode_t kStateMode = 0644;
// {"url": URL, "manifest": TEXT, "etag": ETAG} has the copy that the server has sent last, and "names-key" is the text
// of the manifest that has named the next key. While files get their names, "placing": {"list": NAME, "names":
// [NAME...]} has these names.
constexpr std::string_view kStateName = ".pull.json";
constexpr std::string_view kRemedy = "remove this file and pull again";

std::string path_in(const std::string& folder, std::string_view name) {
  return (std::filesystem::path(folder) / name).string();
}

void own(PullState& state, const Manifest& manifest) {
  for (const PublishedFile& file : manifest.files) state.owned[manifest.list].insert(file.name);
}

Json read_kept(const std::string& path) {
  if (access(path.c_str(), F_OK) != 0) return {};
  try {
    const std::string text = read_text(path);
    if (!text.starts_with('{')) throw JsonError("is no JSON object");
    return Json::parse(text);
  } catch (const JsonError& error) {
    throw BloomgateError(ErrorCode::bad_input, path + " " + error.what() + "; " + std::string(kRemedy), {.path = path});
  }
}

void write_kept(const std::string& folder, const Json& kept) {
  replace_file(path_in(folder, kStateName), kept.dump(1) + "\n", kStateMode);
}

}  // namespace

PullState::Names PullState::owned_by(std::string_view list) const {
  const auto found = owned.find(list);
  return found == owned.end() ? Names{} : found->second;
}

PullState read_pull_state(const std::string& folder, const std::string& manifest_url, const TrustedKeys& trusted_keys) {
  const std::string remedy = "it is damaged: remove " + path_in(folder, kManifestName) +
                             " if whatever is published now may be taken, and pull again";
  const std::string path = path_in(folder, kStateName);
  PullState state = {.current = read_manifest(folder, remedy), .kept = read_kept(path)};
  const Json& kept = state.kept;
  if (const auto text = kept.at("names-key").text()) state.names_key = parse_manifest(*text, path, kRemedy);
  if (const auto text = kept.at("manifest").text()) {
    own(state, parse_manifest(*text, path, kRemedy).manifest);
    state.is_complete = state.current && *text == state.current->text;
    if (state.is_complete && kept.at("url").text() == manifest_url) state.etag = kept.at("etag").text().value_or("");
  }
  if (const auto list = kept.at("placing").at("list").text()) {
    state.is_complete = false;
    PullState::Names& names = state.owned[std::string(*list)];
    for (const Json& name : kept.at("placing").at("names").elements()) names.emplace(name.text().value_or(""));
  }
  const TrustedKeys keys = keys_with_next(trusted_keys, state.names_key);
  if (state.current && std::ranges::find(keys, state.current->signer) != keys.end())
    own(state, state.current->manifest);
  return state;
}

void remember_placing(const std::string& folder, const PullState& state, const Manifest& manifest) {
  PullState::Names names = state.owned_by(manifest.list);
  for (const PublishedFile& file : manifest.files) names.insert(file.name);
  Json list = Json::array();
  for (const std::string& name : names) list.push_back(name);
  Json kept = state.kept;
  kept["placing"] = {{"list", manifest.list}, {"names", std::move(list)}};
  write_kept(folder, kept);
}

void remember_pulled(const std::string& folder, const PullState& state, const std::string& manifest_url,
                     const SignedManifest& manifest, const std::string& etag, const TrustedKeys& trusted_keys) {
  Json kept = {{"url", manifest_url}, {"manifest", manifest.text}, {"etag", etag}};
  const auto names_key = namer_after(trusted_keys, state.names_key, manifest);
  if (names_key) kept["names-key"] = names_key->text;
  write_kept(folder, kept);
}

}  // namespace bloomgate
