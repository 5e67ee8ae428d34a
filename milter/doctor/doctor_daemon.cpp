// Examines the daemon itself: that it listens, as which user, and what it has to read.
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>

#include "filter/base/error.hpp"
#include "filter/base/number_text.hpp"
#include "filter/base/shell_word.hpp"
#include "filter/file/file_format.hpp"
#include "filter/file/mapped_filter.hpp"
#include "filter/keep/layer_folder.hpp"
#include "filter/learned/learned_file.hpp"
#include "filter/store/store_file.hpp"
#include "milter/doctor/doctor.hpp"
#include "milter/doctor/doctor_access.hpp"
#include "milter/doctor/doctor_connection.hpp"
#include "milter/lists/exact_list_file.hpp"
#include "milter/lists/taken_manifests.hpp"

namespace bloomgate {
namespace {

using Level = DoctorFinding::Level;

// Each layer adds a chance of a false positive for a non-member, and the folder can hold at most kMostLayers.
constexpr std::size_t kManyLayers = kMostLayers * 3 / 4;
// Free space for the database of learned pairs: a write that fails for lack of space leaves a little of it free.
constexpr std::uint64_t kLeastRoomBytes = 1 << 20;
constexpr const char* kAsRoot = "run this as root: sudo bloomgate-milter doctor";

std::string days(std::chrono::seconds age) {
  return format_counted(static_cast<std::uint64_t>(std::max<std::int64_t>(0, age.count() / 86400)), "day", "days");
}

std::string folder_of(const std::string& path) {
  return std::filesystem::absolute(path).parent_path().string();
}

bool is_refused(int error) {
  return error == EACCES || error == EPERM;
}

// A file that cannot be examined: it is missing, its folder is missing, or we have no permission.
void report_unseen(const std::string& subject, const std::string& path, int error, const std::string& remedy,
                   std::vector<DoctorFinding>& findings) {
  const std::string folder = folder_of(path);
  struct stat info = {};
  if (is_refused(error)) {
    findings.push_back({Level::problem, subject, "you may not look at " + path + ": permission denied", kAsRoot});
  } else if (error == ENOENT && stat(folder.c_str(), &info) != 0) {
    findings.push_back(
        {Level::problem, subject, path + " cannot be found: its folder is not there",
         "make it: install -d -o bloomgate -g bloomgate " + shell_word(folder, "FOLDER") + "; then " + remedy});
  } else {
    findings.push_back({Level::problem, subject, path + " cannot be found: " + std::strerror(error), remedy});
  }
}

void examine_permissions(const std::string& path, const struct stat& info, const std::string& user,
                         std::vector<DoctorFinding>& findings) {
  if ((info.st_mode & S_IWOTH) != 0) {
    findings.push_back({Level::problem, "permissions", path + " can be written by everybody",
                        "chmod o-w " + shell_word(path, "FILE")});
  }
  if (user_exists(user) && !user_may(user, path, R_OK)) {
    findings.push_back({Level::problem, "permissions",
                        path + " cannot be read by " + user + ", the user that the daemon runs as",
                        "chmod a+r " + shell_word(path, "FILE") + ", and a+x its folders"});
  }
}

void examine_fingerprint(const MappedFilter& whitelist, const std::vector<std::string>& wanted,
                         std::vector<DoctorFinding>& findings) {
  const std::string fingerprint = fingerprint_of(whitelist);
  if (wanted.empty() || std::ranges::count(wanted, fingerprint) != 0) return;
  findings.push_back({Level::problem, "whitelist",
                      whitelist.path() + " is another one than on the other servers: its fingerprint is " + fingerprint,
                      "copy the same file to all of them, or build it here as well, then reload"});
}

// The store of a whitelist that could be opened.
void examine_store(const WhitelistSource& source, const MappedFilter& whitelist, const std::string& user,
                   std::vector<DoctorFinding>& findings) {
  if (source.store.empty()) return;
  const std::string remedy = "build both again: bloomgate build --output " + shell_word(source.path, "FILE") +
                             " --store " + shell_word(source.store, "STORE") +
                             " LIST...; or copy both files of one build; then reload";
  try {
    const auto store = open_store(source.store, whitelist.header().store_identity, source.path);
    findings.push_back({Level::ok, "confirm",
                        store->path() + " confirms what " + source.path +
                            " finds: " + format_counted(store->header().addresses, "address", "addresses") +
                            ", and fewer than 1 in 10^9 unlisted senders are found"});
    struct stat info = {};
    if (fstat(store->descriptor(), &info) == 0) examine_permissions(store->path(), info, user, findings);
  } catch (const BloomgateError& error) {
    findings.push_back({Level::problem, "confirm", error.what(), remedy});
  }
}

void examine_whitelist(const WhitelistSource& source, const std::vector<std::string>& fingerprints,
                       const std::string& user, std::vector<DoctorFinding>& findings) {
  const std::string& path = source.path;
  struct stat info = {};
  if (stat(path.c_str(), &info) != 0) {
    report_unseen("whitelist", path, errno,
                  "build it: bloomgate build --output " + shell_word(path, "FILE") + " LIST...", findings);
    return;
  }
  try {
    const MappedFilter whitelist(path);
    whitelist.require_no_counters();
    if (!source.trusted_keys.empty()) whitelist.require_signer(source.trusted_keys);
    const std::chrono::seconds age(time(nullptr) - info.st_mtime);
    const std::string text = path + ": its header is good, " +
                             format_counted(entries_of(whitelist.header()), "entry", "entries") + ", " +
                             (whitelist.header().kinds.any_pairs() ? "with pairs, " : "") + days(age) +
                             " old, fingerprint " + fingerprint_of(whitelist);
    findings.push_back({Level::ok, "whitelist", text});
    examine_fingerprint(whitelist, fingerprints, findings);
    examine_store(source, whitelist, user, findings);
  } catch (const BloomgateError& error) {
    // The rules of milter/health report that. Here is the remedy for a valid file whose key is not trusted.
    if (error.code() == ErrorCode::bad_signature) {
      findings.push_back({Level::problem, "whitelist", error.what(),
                          "if the one who has signed it is to be trusted, add that key to trusted-key, then reload"});
    }
  }
  examine_permissions(path, info, user, findings);
}

// A folder of layers: each of them, and the faults of the folder.
void examine_layers(const WhitelistSource& source, const std::vector<std::string>& fingerprints,
                    const std::string& user, std::vector<DoctorFinding>& findings) {
  try {
    const std::vector<Layer> layers = usable_layers_in(source.path);
    if (!source.store.empty()) {
      findings.push_back({Level::problem, "confirm", source.path + " is a folder of layers, which no store can confirm",
                          "take confirm out, or name one filter file and its store"});
    }
    for (const Layer& layer : layers) {
      examine_whitelist({source.name, layer.path, {}, source.trusted_keys}, fingerprints, user, findings);
    }
    if (layers.size() > kManyLayers) {
      findings.push_back(
          {Level::warning, "whitelist",
           source.path + " has " + std::to_string(layers.size()) + " layers, of at most " + std::to_string(kMostLayers),
           "fold them into one: bloomgate fold-layers " + shell_word(source.path, "FOLDER") + " LIST..."});
    }
  } catch (const BloomgateError& error) {
    findings.push_back(
        {Level::problem, "whitelist", error.what(), "correct that, then: systemctl reload bloomgate-milter"});
  }
}

void examine_exact_list(const std::string& name, const std::string& path, const std::string& means,
                        const std::string& user, std::vector<DoctorFinding>& findings) {
  if (path.empty()) return;
  struct stat info = {};
  if (stat(path.c_str(), &info) != 0) {
    report_unseen(
        name, path, errno,
        "put it back if it was lost, or make an empty one: install -m 644 /dev/null " + shell_word(path, "FILE"),
        findings);
    findings.back().text += "; " + means;
    return;
  }
  if (!S_ISREG(info.st_mode)) {
    findings.push_back(
        {Level::problem, name, path + " is not a regular file; " + means, "name a text file with one entry per line"});
    return;
  }
  const std::size_t before = findings.size();
  examine_permissions(path, info, user, findings);
  // A rule of milter/health examines its content.
  const bool is_lost = std::ranges::any_of(findings, [&name](const DoctorFinding& each) {
    return each.subject == "exact-list-lost" && each.text.find(" " + name + " ") != std::string::npos;
  });
  if (findings.size() == before && !is_lost) findings.push_back({Level::ok, name, path + " is there"});
}

void report_silence(const DaemonOptions& options, int error, std::vector<DoctorFinding>& findings) {
  const std::string name = to_string(options.socket);
  struct stat info = {};
  if (is_refused(error)) {
    findings.push_back(
        {Level::problem, "socket",
         "you may not connect to " + name + ": permission denied; whether the daemon listens there is not known",
         kAsRoot});
    return;
  }
  const bool is_path = options.socket.family == SocketAddress::Family::unix_path;
  const std::string folder = is_path ? folder_of(options.socket.path) : "/";
  if (stat(folder.c_str(), &info) != 0) {
    findings.push_back({Level::problem, "socket",
                        "nothing listens on " + name + ": the folder " + folder + " is not there",
                        "start the daemon: systemctl start bloomgate-milter; without systemd: install -d -o bloomgate "
                        "-g bloomgate " +
                            shell_word(folder, "FOLDER")});
  } else {
    findings.push_back(
        {Level::problem, "socket", "nothing listens on " + name, "start the daemon: systemctl start bloomgate-milter"});
  }
  if (!user_exists(kDaemonUser)) {
    findings.push_back({Level::problem, "user",
                        std::string("there is no user ") + kDaemonUser + ", under which the service runs",
                        "systemd-sysusers; without systemd: useradd --system --user-group --home-dir "
                        "/var/lib/bloomgate --shell /usr/sbin/nologin bloomgate"});
  }
}

}  // namespace

std::string examine_listener(const DaemonOptions& options, std::vector<DoctorFinding>& findings) {
  const std::string name = to_string(options.socket);
  const DoctorConnection connection = connect_to(options.socket);
  if (!connection.is_open()) {
    report_silence(options, connection.error, findings);
  } else if (!answers_as_milter(connection)) {
    findings.push_back({Level::problem, "socket", "what listens on " + name + " does not answer a mail server",
                        "check whether it is the daemon, and restart it: systemctl restart bloomgate-milter"});
  } else {
    findings.push_back({Level::ok, "socket", "the daemon answers on " + name});
  }
  return connection.is_open() ? listening_user(connection).value_or(kDaemonUser) : kDaemonUser;
}

void examine_whitelists(const DaemonOptions& options, const std::vector<std::string>& fingerprints,
                        const std::string& user, std::vector<DoctorFinding>& findings) {
  for (WhitelistSource source : options.whitelists) {
    try {
      if (!source.trusted_keys.empty()) source.trusted_keys = keys_of(source);
    } catch (const BloomgateError&) {  // NOLINT(bugprone-empty-catch): the rules of milter/health say that
    }
    if (is_folder(source.path)) {
      examine_layers(source, fingerprints, user, findings);
    } else {
      examine_whitelist(source, fingerprints, user, findings);
    }
  }
}

// Examined for the daemon's user: what this process may do is a rule of milter/health.
void examine_taken_manifests(const DaemonOptions& options, const std::string& user,
                             std::vector<DoctorFinding>& findings) {
  const auto source = std::ranges::find_if(options.whitelists, [](const WhitelistSource& each) {
    return !each.trusted_keys.empty() && !each.taken_manifests.empty();
  });
  if (source == options.whitelists.end() || !user_exists(user)) return;
  const std::string& path = source->taken_manifests;
  const std::string folder = folder_of(path);
  struct stat info = {};
  if (stat(folder.c_str(), &info) != 0) return;
  const auto report = [&](const std::string& what, const std::string& remedy) {
    findings.push_back({Level::problem, "taken-manifests",
                        what + " by " + user +
                            ", the user that the daemon runs as: after a restart it may take an older "
                            "state of a signed whitelist, or none",
                        remedy});
  };
  if (!user_may(user, folder, W_OK)) {
    report(folder + " cannot be written to", "make it the daemon's: install -d -o bloomgate -g bloomgate " +
                                                 shell_word(folder, "FOLDER") + ", or name another in taken-manifests");
  } else if (stat(path.c_str(), &info) == 0 && !user_may(user, path, R_OK)) {
    report(path + " cannot be read", "chown bloomgate:bloomgate " + shell_word(path, "FILE"));
  } else {
    findings.push_back({Level::ok, "taken-manifests", path + " is where taken manifests are kept"});
  }
}

void examine_exact_lists(const DaemonOptions& options, const std::string& user, std::vector<DoctorFinding>& findings) {
  examine_exact_list("revoked", options.revoked, "the daemon delivers no message without it", user, findings);
  examine_exact_list("extra", options.extra, "it lists no sender", user, findings);
  examine_exact_list("opt-out", options.opt_out, "the daemon delivers no message without it", user, findings);
}

void examine_learning(const DaemonOptions& options, const std::string& user, std::vector<DoctorFinding>& findings) {
  if (options.learn == DaemonOptions::Learn::none) return;
  const std::string& path = options.learn_file;
  const std::string folder = folder_of(path);
  const std::string make_folder =
      "make it the daemon's: install -d -o bloomgate -g bloomgate " + shell_word(folder, "FOLDER");
  struct stat info = {};
  if (stat(folder.c_str(), &info) != 0) {
    findings.push_back({Level::problem, "learn", folder + " cannot be found: " + std::strerror(errno), make_folder});
    return;
  }
  if (user_exists(user) && !user_may(user, folder, W_OK)) {
    findings.push_back(
        {Level::problem, "learn",
         folder + " cannot be written to by " + user + ", the user that the daemon runs as: nothing is learned",
         make_folder});
    return;
  }
  struct statvfs disk = {};
  const bool is_known = statvfs(folder.c_str(), &disk) == 0;
  const bool is_read_only = is_known && (disk.f_flag & ST_RDONLY) != 0;
  if (is_read_only || (is_known && disk.f_bavail * disk.f_frsize < kLeastRoomBytes)) {
    findings.push_back(
        {Level::problem, "learn",
         "the disk of " + folder +
             (is_read_only ? " is read-only: nothing is learned, and mail continues"
                           : " has less than 1 MiB of room: nothing is learned while it is full, and mail "
                             "continues"),
         "make room there, or let it be written to; the daemon tries again every few seconds"});
    return;
  }
  if (stat(path.c_str(), &info) != 0) {
    findings.push_back({Level::ok, "learn", path + " is not there yet: the daemon makes it"});
    return;
  }
  if (user_exists(user) && !user_may(user, path, W_OK)) {
    findings.push_back(
        {Level::problem, "learn",
         path + " cannot be written to by " + user + ", the user that the daemon runs as: nothing is learned",
         "chown bloomgate:bloomgate " + shell_word(path, "FILE")});
    return;
  }
  try {
    const std::uint64_t pairs = LearnedFile(path, LearnedFile::Access::read).count();
    findings.push_back(
        {Level::ok, "learn", path + ": " + format_counted(pairs, "pair", "pairs") + " of a user and a correspondent"});
  } catch (const BloomgateError& error) {
    findings.push_back({Level::problem, "learn", error.what(),
                        "see what it says; until then nothing is learned, and mail is decided as before"});
  }
}

}  // namespace bloomgate
