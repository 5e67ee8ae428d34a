#include "filter/file/new_file.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <optional>

#include "filter/base/error.hpp"
#include "filter/base/little_endian.hpp"
#include "filter/base/parallel.hpp"
#include "filter/file/output_check.hpp"
#include "filter/file/signature.hpp"
#include "filter/hash/hash.hpp"
#include "filter/system/anonymous_memory.hpp"
#include "filter/system/file_io.hpp"
#include "filter/system/file_paths.hpp"

namespace bloomgate {
namespace {

// The file that `path` names now, if any; links were resolved before.
std::optional<struct stat> existing_file(const std::string& path) {
  struct stat status = {};
  if (stat(path.c_str(), &status) != 0) {
    if (errno == ENOENT) return std::nullopt;
    throw system_error(ErrorCode::cannot_write, "look at", path, errno);
  }
  if (!S_ISREG(status.st_mode)) {
    throw BloomgateError(ErrorCode::not_a_regular_file,
                         path + " exists and is not a regular file; name a file for the filter", {.path = path});
  }
  return status;
}

void write_all(int file, std::span<const std::byte> bytes, std::uint64_t offset, const std::string& path) {
  if (const int error = write_at(file, bytes, offset); error != 0) {
    throw system_error(ErrorCode::cannot_write, "write", path, error);
  }
}

void read_whole(int file, std::span<std::byte> bytes, std::uint64_t offset, const std::string& path) {
  if (const int error = read_at(file, bytes, offset); error != 0) {
    throw system_error(ErrorCode::cannot_read, "read back", path, error);
  }
}

void sync(int fd, const std::string& path) {
  if (fsync(fd) != 0) throw system_error(ErrorCode::cannot_write, "sync", path, errno);
}

void rename_finished(const std::string& from, const std::string& to) {
  if (rename(from.c_str(), to.c_str()) != 0) {
    throw system_error(ErrorCode::cannot_write, "rename the finished file to", to, errno);
  }
}

// A writer holds a lock on its temporary file; the lock ends with the writer. Returns false if another build removed
// the file before it was locked.
bool lock_own(int file) {
  while (flock(file, LOCK_EX) != 0 && errno == EINTR) continue;  // some file systems have no locks
  struct stat status = {};
  return fstat(file, &status) != 0 || status.st_nlink != 0;
}

// Removes the temporary files of writers that have ended. A file that cannot be removed stays: it does not prevent the
// build.
void remove_leftovers(const std::string& folder, const std::string& prefix) {
  for (const std::string& path : numbered_files(folder, prefix)) {
    const FileDescriptor file(open(path.c_str(), O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
    struct stat status = {};
    if (!file.is_open() || fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode)) continue;
    if (flock(file.get(), LOCK_EX | LOCK_NB) == 0) unlink(path.c_str());
  }
}

}  // namespace

void throw_not_as_written(const std::string& path, std::uint64_t offset) {
  throw BloomgateError(ErrorCode::bad_body_checksum,
                       path + ": the data at offset " + std::to_string(offset) +
                           " is not what was written there; check the disk, and build again",
                       {.path = path, .offset = offset});
}

NewFile::NewFile(const std::string& path, const Sections& sections) : path_(resolve_link(path)) {
  place(sections);
  const std::uint64_t most_bytes = sections.empty() ? kHeaderBytes : sections.back().end();
  const std::optional<struct stat> old = existing_file(path_);
  folder_ = folder_of(path_);
  const std::string prefix = hidden_prefix(path_, ".tmp-");
  remove_leftovers(folder_, prefix);
  do {
    temporary_path_ = folder_ + "/" + prefix + std::to_string(random_seed());
    file_.reset(open(temporary_path_.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
  } while (file_.is_open() ? !lock_own(file_.get()) : errno == EEXIST);
  if (!file_.is_open()) throw folder_error(folder_, path_, errno);
  try {
    // An operator who let the daemon's group read the old file wants the same for the new one. Only root can give files
    // away. If the system refuses, the file belongs to its maker, like any new file.
    if (old && (fchown(file_.get(), old->st_uid, old->st_gid) == 0 || old->st_uid == geteuid()) &&
        fchmod(file_.get(), old->st_mode & 0777) != 0) {
      throw system_error(ErrorCode::cannot_write, "set the permissions of", temporary_path_, errno);
    }
    const int error = surely_lacks_room(folder_, most_bytes)
                          ? ENOSPC
                          : posix_fallocate(file_.get(), 0, static_cast<off_t>(most_bytes));
    // Some file systems cannot reserve space; there a full disk shows only on writing.
    if (error != 0 && error != EOPNOTSUPP && error != EINVAL) {
      throw system_error(ErrorCode::cannot_write, "reserve " + std::to_string(most_bytes) + " bytes for", path_, error);
    }
    direct_ = DirectFile(temporary_path_, O_RDWR);
  } catch (...) {
    unlink(temporary_path_.c_str());
    throw;
  }
}

NewFile::~NewFile() {
  if (!temporary_path_.empty()) unlink(temporary_path_.c_str());
}

NewFile::Part& NewFile::part_of(SectionKind kind) {
  return *std::ranges::find(parts_, kind, [](const Part& each) { return each.section.kind; });
}

void NewFile::write(SectionKind kind, std::uint64_t offset, std::span<const std::byte> bytes) {
  Part& part = part_of(kind);
  const std::uint64_t place = part.section.offset + offset;
  const std::size_t written = direct_.write(bytes, place);
  write_all(file_.get(), bytes.subspan(written), place + written, temporary_path_);
  for (std::uint64_t done = 0; done < bytes.size(); done += kChecksumChunkBytes) {
    const auto chunk = bytes.subspan(done, std::min(kChecksumChunkBytes, bytes.size() - done));
    const std::uint64_t index = (offset + done) / kChecksumChunkBytes;
    store_little_endian(part.table.data() + index * sizeof(std::uint64_t), checksum(chunk));
  }
  if (written == bytes.size()) {
    read_back_behind(static_cast<std::size_t>(&part - parts_.data()), offset / kChecksumChunkBytes,
                     bytes.size() / kChecksumChunkBytes);
  }
}

// Notes that these chunks are written, and reads back chunks that were written some time before.
void NewFile::read_back_behind(std::size_t part, std::uint64_t first_chunk, std::uint64_t chunks) {
  constexpr std::size_t kBehind = 64;
  std::vector<Chunk> due;
  std::optional<AnonymousMemory> memory;
  {
    const std::lock_guard lock(mutex_);
    for (std::uint64_t i = 0; i < chunks; ++i) unread_.push_back({part, first_chunk + i});
    for (; unread_.size() > kBehind; unread_.pop_front()) due.push_back(unread_.front());
    if (due.empty()) return;
    if (!memory_.empty()) {
      memory.emplace(std::move(memory_.back()));
      memory_.pop_back();
    }
  }
  if (!memory) {
    try {
      memory.emplace(kChecksumChunkBytes, "reading back what was written");
    } catch (const BloomgateError& error) {
      if (error.code() != ErrorCode::out_of_memory) throw;
      return;  // they are read back at the end, when the builder has released its memory
    }
  }
  for (const Chunk& chunk : due) read_back_chunk(parts_[chunk.part], chunk.index, memory->bytes());
  const std::lock_guard lock(mutex_);
  for (const Chunk& chunk : due) parts_[chunk.part].is_read_back[chunk.index] = 1;
  memory_.push_back(std::move(*memory));
}

std::uint64_t NewFile::mark() {
  const std::uint64_t number = random_seed();
  std::array<std::byte, sizeof number> bytes;
  store_little_endian(bytes.data(), number);
  write_all(file_.get(), bytes, 0, temporary_path_);
  sync(file_.get(), temporary_path_);
  return number;
}

void NewFile::note_made(SectionKind kind, std::uint64_t first_chunk, std::span<const std::uint64_t> checksums) {
  Part& part = part_of(kind);
  for (std::size_t i = 0; i < checksums.size(); ++i) {
    store_little_endian(part.table.data() + (first_chunk + i) * sizeof(std::uint64_t), checksums[i]);
    part.is_read_back[first_chunk + i] = 1;
  }
}

void NewFile::require_written(std::span<const std::byte> written, std::uint64_t offset) const {
  std::vector<std::byte> read(written.size());
  read_whole(file_.get(), read, offset, temporary_path_);
  if (!std::ranges::equal(read, written)) throw_not_as_written(temporary_path_, offset);
}

void NewFile::read_back_chunk(const Part& part, std::uint64_t chunk, std::span<std::byte> memory) const {
  const bool is_last = chunk + 1 == part.section.chunk_count();
  if (!is_last && part.is_read_back[chunk] != 0) return;
  const std::uint64_t begin = chunk * kChecksumChunkBytes;
  const std::uint64_t place = part.section.offset + begin;
  const auto bytes = memory.first(std::min(kChecksumChunkBytes, part.section.bytes - begin));
  const std::size_t read = direct_.read(bytes, place);
  read_whole(file_.get(), bytes.subspan(read), place + read, temporary_path_);
  const auto noted = load_little_endian<std::uint64_t>(part.table.data() + chunk * sizeof(std::uint64_t));
  if (checksum(bytes) != noted) throw_not_as_written(temporary_path_, place);
}

// Reads back what is not read back yet. Does not map the file, since a filter may be larger than a limit of the address
// space.
void NewFile::read_back(std::span<const std::byte> header, unsigned threads) const {
  require_written(header, 0);
  for (const Part& part : parts_) {
    require_written(part.table, part.section.table_offset());
    std::atomic<std::uint64_t> next{0};
    run_parallel(threads, [&](unsigned) {
      const AnonymousMemory memory(std::min(kChecksumChunkBytes, part.section.bytes), "reading back what was written");
      for (std::uint64_t chunk; (chunk = next.fetch_add(1)) < part.section.chunk_count();) {
        read_back_chunk(part, chunk, memory.bytes());
      }
    });
  }
}

void NewFile::place(const Sections& sections) {
  parts_.resize(std::min(parts_.size(), sections.size()));
  for (std::size_t i = 0; i < sections.size(); ++i) {
    if (i == parts_.size()) parts_.emplace_back();
    parts_[i].section = sections[i];
    parts_[i].table.resize(sections[i].table_bytes());
    parts_[i].is_read_back.resize(sections[i].chunk_count());
  }
}

void NewFile::forget(SectionKind kind) {
  Part& part = part_of(kind);
  std::ranges::fill(part.is_read_back, 0);
  std::erase_if(unread_, [&](const Chunk& chunk) { return &parts_[chunk.part] == &part; });
}

void NewFile::complete(Sections sections, const EncodeHeader& encode, unsigned threads) {
  place(sections);
  for (std::size_t i = 0; i < sections.size(); ++i) {
    Part& part = parts_[i];
    sections[i].table_checksum = checksum(part.table);
    write_all(file_.get(), part.table, part.section.table_offset(), temporary_path_);
  }
  std::array<std::byte, kHeaderBytes> header_bytes;
  encode(sections, header_bytes);
  write_all(file_.get(), header_bytes, 0, temporary_path_);
  // There may be fewer bytes than space was reserved for.
  if (ftruncate(file_.get(), static_cast<off_t>(file_bytes())) != 0) {
    throw system_error(ErrorCode::cannot_write, "set the size of", temporary_path_, errno);
  }
  sync(file_.get(), temporary_path_);
  read_back(header_bytes, threads);
}

std::uint64_t NewFile::file_bytes() const noexcept {
  return parts_.empty() ? kHeaderBytes : parts_.back().section.end();
}

Digest NewFile::digest_of_content(unsigned threads) const {
  const std::uint64_t bytes = file_bytes();
  std::vector<Digest> pieces(piece_count(bytes));
  std::atomic<std::size_t> next{0};
  run_parallel(threads, [&](unsigned) {
    const AnonymousMemory memory(kPieceBytes, "signing what was written");
    for (std::size_t index; (index = next.fetch_add(1)) < pieces.size();) {
      const PiecePlace place = place_of_piece(index, bytes);
      const auto piece = memory.bytes().first(place.bytes);
      const std::size_t read = direct_.read(piece, place.offset);
      read_whole(file_.get(), piece.subspan(read), place.offset + read, temporary_path_);
      pieces[index] = digest_of(piece);
    }
  });
  return content_of(pieces);
}

void NewFile::sign(const SecretKey& key, unsigned threads) {
  std::array<std::byte, kHeaderBytes> header;
  read_whole(file_.get(), header, 0, temporary_path_);
  sign_header(header, digest_of_content(threads), key);
  write_all(file_.get(), header, 0, temporary_path_);
  sync(file_.get(), temporary_path_);
  require_written(header, 0);
}

std::string staged_path(const std::string& path) {
  return path + ".next";
}

void NewFile::stage() {
  const std::string staged = staged_path(path_);
  rename_finished(temporary_path_, staged);
  temporary_path_ = staged;
  sync_folder_or_throw(folder_);
}

void NewFile::publish(const KeepOld& keep_old) {
  const std::string from = temporary_path_;
  // The file that belongs to a staged file is already published, so the staged file must not be lost.
  if (from == staged_path(path_)) temporary_path_.clear();
  if (keep_old) keep_old(path_);
  rename_finished(from, path_);
  temporary_path_.clear();
  sync_folder_or_throw(folder_);
}

}  // namespace bloomgate
