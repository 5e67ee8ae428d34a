#include "filter/learned/sqlite.hpp"

#include <sqlite3.h>

#include "filter/base/error.hpp"

namespace bloomgate {
namespace {

// Longer than any row of ours.
constexpr int kMostValueBytes = 64 * 1024;

ErrorCode code_of(int status) noexcept {
  switch (status & 0xff) {
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
    case SQLITE_TOOBIG:
    case SQLITE_MISMATCH:
      return ErrorCode::bad_input;
    case SQLITE_CANTOPEN:
      return ErrorCode::cannot_open;
    case SQLITE_FULL:
    case SQLITE_READONLY:
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
    case SQLITE_PERM:
      return ErrorCode::cannot_write;
    case SQLITE_IOERR:
      return status == SQLITE_IOERR_READ || status == SQLITE_IOERR_SHORT_READ ? ErrorCode::cannot_read
                                                                              : ErrorCode::cannot_write;
    case SQLITE_NOMEM:
      return ErrorCode::out_of_memory;
    default:
      return ErrorCode::library_failed;
  }
}

// The remedy, to follow the library's message.
const char* advice(int status) noexcept {
  switch (status & 0xff) {
    case SQLITE_NOTADB:
      return "; name the file of the option learn-file; if this is it, the file is damaged: move it away, with those "
             "that end in -wal and -shm, and the daemon begins a new one";
    case SQLITE_CORRUPT:
    case SQLITE_TOOBIG:
    case SQLITE_MISMATCH:
      return "; the file is damaged: move it away, with those that end in -wal and -shm, and the daemon begins a new "
             "one";
    case SQLITE_CANTOPEN:
      return "; the file must be there, and it and its folder open to this user, since SQLite keeps two files beside "
             "it (-wal and -shm)";
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return "; another program is writing to it, try again";
    case SQLITE_FULL:
      return "; the disk is full";
    case SQLITE_READONLY:
    case SQLITE_PERM:
      return "; this user must be able to write to the file, and to make files in its folder";
    default:
      return "";
  }
}

}  // namespace

void Database::Close::operator()(sqlite3* database) const noexcept {
  sqlite3_close_v2(database);
}

Database::Database(std::string path, bool for_writing, std::chrono::milliseconds patience) : path_(std::move(path)) {
  sqlite3* opened = nullptr;
  const int mode = (for_writing ? SQLITE_OPEN_READWRITE : SQLITE_OPEN_READONLY) | SQLITE_OPEN_NOMUTEX;
  // Makes it a path in any case: SQLite would treat a name that starts with a colon as a database in memory.
  const std::string name = path_.starts_with('/') ? path_ : "./" + path_;
  const int status = sqlite3_open_v2(name.c_str(), &opened, mode, nullptr);
  database_.reset(opened);
  if (status != SQLITE_OK) fail(status);
  sqlite3_extended_result_codes(opened, 1);
  sqlite3_busy_timeout(opened, static_cast<int>(patience.count()));
  sqlite3_limit(opened, SQLITE_LIMIT_LENGTH, kMostValueBytes);
  sqlite3_limit(opened, SQLITE_LIMIT_ATTACHED, 0);
  sqlite3_db_config(opened, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  sqlite3_db_config(opened, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  sqlite3_db_config(opened, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, nullptr);
  sqlite3_db_config(opened, SQLITE_DBCONFIG_ENABLE_VIEW, 0, nullptr);
  run("PRAGMA cell_size_check = ON; PRAGMA mmap_size = 0;");
}

void Database::run(const char* statements) {
  const int status = sqlite3_exec(database_.get(), statements, nullptr, nullptr, nullptr);
  if (status != SQLITE_OK) fail(status);
}

std::uint64_t Database::changed_rows() const noexcept {
  return static_cast<std::uint64_t>(sqlite3_changes64(database_.get()));
}

void Database::fail(int status) const {
  const char* const words = database_ ? sqlite3_errmsg(database_.get()) : sqlite3_errstr(status);
  throw BloomgateError(code_of(status), path_ + ": " + words + advice(status), {.path = path_});
}

void Query::Finalize::operator()(sqlite3_stmt* statement) const noexcept {
  sqlite3_finalize(statement);
}

Query::Query(Database& database, std::string_view statement) : database_(database) {
  sqlite3_stmt* prepared = nullptr;
  const int status = sqlite3_prepare_v2(database.database_.get(), statement.data(), static_cast<int>(statement.size()),
                                        &prepared, nullptr);
  statement_.reset(prepared);
  if (status != SQLITE_OK) database_.fail(status);
}

void Query::bind(int index, std::int64_t value) {
  const int status = sqlite3_bind_int64(statement_.get(), index, value);
  if (status != SQLITE_OK) database_.fail(status);
}

void Query::bind(int index, std::string_view value) {
  const int status =
      sqlite3_bind_text(statement_.get(), index, value.data(), static_cast<int>(value.size()), SQLITE_STATIC);
  if (status != SQLITE_OK) database_.fail(status);
}

bool Query::next() {
  const int status = sqlite3_step(statement_.get());
  if (status == SQLITE_ROW) return true;
  if (status != SQLITE_DONE) database_.fail(status);
  return false;
}

void Query::run() {
  next();
  reset();
}

void Query::reset() noexcept {
  sqlite3_reset(statement_.get());
}

std::optional<std::int64_t> Query::integer(int column) const noexcept {
  if (sqlite3_column_type(statement_.get(), column) != SQLITE_INTEGER) return std::nullopt;
  return sqlite3_column_int64(statement_.get(), column);
}

std::optional<std::string_view> Query::text(int column) const noexcept {
  if (sqlite3_column_type(statement_.get(), column) != SQLITE_TEXT) return std::nullopt;
  const unsigned char* const bytes = sqlite3_column_text(statement_.get(), column);
  if (bytes == nullptr) return std::nullopt;
  const int size = sqlite3_column_bytes(statement_.get(), column);
  return std::string_view(reinterpret_cast<const char*>(bytes), static_cast<std::size_t>(size));
}

Transaction::Transaction(Database& database, bool for_writing) : database_(database) {
  database_.run(for_writing ? "BEGIN IMMEDIATE" : "BEGIN");
}

Transaction::~Transaction() {
  if (!is_open_) return;
  try {
    database_.run("ROLLBACK");
  } catch (...) {
    // SQLite has already rolled it back, for example because the disk is full.
  }
}

void Transaction::commit() {
  database_.run("COMMIT");
  is_open_ = false;
}

}  // namespace bloomgate
