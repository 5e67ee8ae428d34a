// SQLite for one file: opening, statements and values, with its errors as BloomgateError. Used by learned_file.cpp
// alone. An object is for one thread; several processes may have the file open.
//
// The file is not trusted. Nothing in it is executed (no trigger, view or function of its schema), no part of it is
// mapped, and text and rows are limited in length.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

struct sqlite3;
struct sqlite3_stmt;

namespace bloomgate {

class Database {
 public:
  // Opens the file, which must be there. If others have locked it, waits as long as `patience`, then and later. Throws
  // BloomgateError{cannot_open}.
  Database(std::string path, bool for_writing, std::chrono::milliseconds patience);

  // Runs statements without result rows. Throws as Query::next().
  void run(const char* statements);

  // How many rows the last statement has changed.
  std::uint64_t changed_rows() const noexcept;

  const std::string& path() const noexcept { return path_; }

  // Throws the error for the last call, which failed with `status`: cannot_write for a full, locked or read-only disk,
  // bad_input for a damaged file, cannot_read for one that cannot be read, library_failed for anything else.
  [[noreturn]] void fail(int status) const;

 private:
  friend class Query;
  struct Close {
    void operator()(sqlite3* database) const noexcept;
  };

  std::string path_;
  std::unique_ptr<sqlite3, Close> database_;
};

// A prepared statement. The database must outlive it.
class Query {
 public:
  // Throws as next().
  Query(Database& database, std::string_view statement);

  // The values of ?1, ?2, …, whose text must live until the next reset(). Throws as next().
  void bind(int index, std::int64_t value);
  void bind(int index, std::string_view value);

  // Whether there is another row. Throws BloomgateError, see Database::fail().
  bool next();

  // Runs a statement without result rows, and makes it ready to be bound and run again.
  void run();
  void reset() noexcept;

  // A column of the row, from 0 on; nothing if the column has another type. Text lives until the next call of next().
  std::optional<std::int64_t> integer(int column) const noexcept;
  std::optional<std::string_view> text(int column) const noexcept;

 private:
  struct Finalize {
    void operator()(sqlite3_stmt* statement) const noexcept;
  };

  Database& database_;
  std::unique_ptr<sqlite3_stmt, Finalize> statement_;
};

// All changes until commit(), or none of them. The database must outlive it.
class Transaction {
 public:
  // If `for_writing`, waits until no other transaction writes. Throws as Query::next().
  Transaction(Database& database, bool for_writing);
  ~Transaction();
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;

  void commit();

 private:
  Database& database_;
  bool is_open_ = true;
};

}  // namespace bloomgate
