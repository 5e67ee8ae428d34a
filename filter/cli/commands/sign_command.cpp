// `bloomgate sign`: makes keys, and signs filters with them (filter/file/signature.hpp).
#include <sysexits.h>

#include <iostream>
#include <memory>

#include "filter/base/error.hpp"
#include "filter/base/json.hpp"
#include "filter/base/parallel.hpp"
#include "filter/cli/commands/commands.hpp"
#include "filter/cli/commands/manifest_options.hpp"
#include "filter/cli/commands/manifest_text.hpp"
#include "filter/cli/commands/report_text.hpp"
#include "filter/cli/stop_signal.hpp"
#include "filter/file/header_fields.hpp"
#include "filter/file/output_check.hpp"
#include "filter/jobs/locks.hpp"
#include "filter/keep/layer_folder.hpp"
#include "filter/keep/sign_filter.hpp"
#include "filter/store/store_file.hpp"

namespace bloomgate::cli {
namespace {

namespace po = boost::program_options;

constexpr const char* kNoNextKey = "none";

struct SignCommand {
  std::string new_key;
  std::string public_key;
  std::string key;
  std::string output;
  std::string next_key;
  ManifestOptions manifest;
  std::vector<std::string> filters;
  bool json = false;
  bool quiet = false;
};

void print_key(const SecretKey& key, bool json) {
  const std::string text = key.public_key().text();
  json ? print_report({{"public_key", text}}) : static_cast<void>(std::cout << text << '\n');
}

void make_key(const std::string& path, bool json) {
  const SecretKey key = SecretKey::make();
  key.write_to(path);
  print_key(key, json);
}

// Of filters that were signed: each as soon as it is, or all of them as JSON.
class SignReport {
 public:
  SignReport(bool json, bool quiet) : is_json_(json), is_quiet_(quiet) {}

  void add(const std::string& path, Signing signing) {
    const bool is_new = signing == Signing::done;
    if (is_json_) return filters_.push_back({{"file", path}, {"changed", is_new}});
    if (is_quiet_) return;
    std::cout << (is_new ? "signed     " : "unchanged  ") << path << (is_new ? "" : ", which has this signature")
              << '\n';
  }

  void add(const std::optional<WrittenManifest>& manifest) {
    if (!is_json_ && !is_quiet_) print_written("manifest   ", manifest);
    if (is_json_ && manifest) manifests_.push_back(written_json(manifest));
  }

  void finish(const SecretKey& key) const {
    if (is_json_) print_report({{"signer", key.public_key().text()}, {"filters", filters_}, {"manifests", manifests_}});
  }

 private:
  bool is_json_;
  bool is_quiet_;
  Json filters_ = Json::array();
  Json manifests_ = Json::array();
};

using SharedKey = std::shared_ptr<const SecretKey>;

ManifestWriter manifest_of(const std::string& whitelist, const SharedKey& key, const ManifestRequest& request) {
  return {whitelist, key, request, [](std::string_view line) { std::cerr << line << '\n'; }};
}

void sign_one(const std::string& path, const std::string& output, const SecretKey& key, SignReport& report) {
  if (is_store(path)) {
    throw BloomgateError(ErrorCode::bad_input, path + " is a store, which has no signature; name a filter",
                         {.path = path});
  }
  if (output != path) require_can_write(output, 0);
  report.add(output, sign_filter(path, resolve_link(output), key, default_threads()));
}

void sign_file(const std::string& path, const std::string& output, const SharedKey& key, const ManifestRequest& request,
               SignReport& report) {
  const ManifestWriter manifest = manifest_of(output, key, request);
  sign_one(path, output, *key, report);
  report.add(manifest.write());
}

void sign_folder(const std::string& folder, const SharedKey& key, const ManifestRequest& request, SignReport& report) {
  // `fold-layers` removes layers, and a signed copy must not restore one.
  const FolderLock lock(folder, stop_flag());
  const ManifestWriter manifest = manifest_of(folder, key, request);
  for (const Layer& layer : usable_layers_in(folder)) sign_one(layer.path, layer.path, *key, report);
  report.add(manifest.write());
}

ManifestRequest request_of(const SignCommand& command) {
  ManifestRequest request = command.manifest.request(true, "--key");
  request.drops_next_key = command.next_key == kNoNextKey;
  if (command.next_key.empty() || request.drops_next_key) return request;
  request.next_key = PublicKey::parse(command.next_key);
  if (!request.next_key) throw UsageError("--next-key: " + public_key_fault(command.next_key));
  return request;
}

void sign_all(const SignCommand& command) {
  if (command.filters.empty()) throw UsageError("name at least one filter, or a folder of layers");
  if (!command.output.empty() && (command.filters.size() != 1 || is_folder(command.filters.front()))) {
    throw UsageError("--output goes with one filter");
  }
  const auto key = std::make_shared<const SecretKey>(SecretKey::read_from(command.key));
  const ManifestRequest request = request_of(command);
  SignReport report(command.json, command.quiet);
  for (const std::string& path : command.filters) {
    if (is_folder(path)) {
      sign_folder(path, key, request, report);
    } else {
      sign_file(path, command.output.empty() ? path : command.output, key, request, report);
    }
  }
  report.finish(*key);
}

const HelpText kSignHelp = {
    .synopsis =
        "bloomgate sign --key FILE FILTER|FOLDER... [OPTION...]\n"
        "       bloomgate sign --new-key FILE\n"
        "       bloomgate sign --public-key FILE",
    .purpose =
        "Signs filters, or each layer of a folder, so that a daemon with the option trusted-key accepts them from this "
        "key alone. A filter is checked, copied with its signature, and replaced by the copy; it never changes in "
        "place. The command also writes the manifest, FILTER.manifest or FOLDER/manifest, which names the files of "
        "this whitelist. A manifest is valid for some days only, so a new one is written even if all filters were "
        "signed before.",
    .examples =
        "  bloomgate sign --new-key /etc/bloomgate/sign.key            # prints the public key, for trusted-key\n"
        "  bloomgate sign --key /etc/bloomgate/sign.key /var/lib/bloomgate/layers\n"};

}  // namespace

int run_sign(const Arguments& arguments) {
  SignCommand command;
  po::options_description visible("options");
  visible.add_options()  //
      ("key", po::value(&command.key)->value_name("FILE"), "the file of the secret key to sign with")(
          "output,o", po::value(&command.output)->value_name("FILE"),
          "where to put the signed filter (default: in place of the filter)")  //
      ("next-key", po::value(&command.next_key)->value_name("PUBLICKEY"),
       "from now on name in the manifest the public key that will sign after this one; 'none' ends that")  //
      ("new-key", po::value(&command.new_key)->value_name("FILE"),
       "make a secret key in a new file that only you can read, and print its public key")  //
      ("public-key", po::value(&command.public_key)->value_name("FILE"),
       "print the public key that belongs to the secret key in FILE");
  command.manifest.add_to(visible);
  add_quiet(command.quiet, visible);
  add_json(command.json, visible);
  const auto values = parse_command_line(arguments, visible, &command.filters, kSignHelp);
  if (!values) return EX_OK;
  const auto actions = values->count("key") + values->count("new-key") + values->count("public-key");
  if (actions != 1) throw UsageError("give one of --key, --new-key and --public-key");
  if (values->count("key") != 0) {
    sign_all(command);
    return EX_OK;
  }
  if (!command.filters.empty() || !command.output.empty() || !command.next_key.empty()) {
    throw UsageError("filters, --output and --next-key go with --key");
  }
  static_cast<void>(command.manifest.request(false, "--key"));
  if (values->count("new-key") != 0) {
    make_key(command.new_key, command.json);
  } else {
    print_key(SecretKey::read_from(command.public_key), command.json);
  }
  return EX_OK;
}

}  // namespace bloomgate::cli
