// JSON that is written: values put together in braces, in the order that they are given in.
//   const Json json = {{"file", path}, {"entries", count}, {"sections", Json::array()}};
// nlohmann-json writes it, in json.cpp alone: its header takes a compiler longer than a whole command of ours. For
// reading JSON use nlohmann-json itself. Not for several threads at a time.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace bloomgate {

class Json {
 public:
  Json() noexcept;  // null
  Json(std::nullptr_t) noexcept;
  Json(std::same_as<bool> auto value) noexcept : Json(Bool{value}) {}
  Json(std::signed_integral auto value) noexcept : Json(Signed{value}) {}
  Json(std::unsigned_integral auto value) noexcept
    requires(!std::same_as<decltype(value), bool>)
      : Json(Unsigned{value}) {}
  Json(double value) noexcept;
  Json(const char* text);
  Json(std::string_view text);
  Json(const std::string& text);
  // An object, if each element is a list of a text and a value; else an array. {} is null.
  Json(std::initializer_list<Json> list);
  Json(const Json& other);
  Json(Json&& other) noexcept;
  Json& operator=(const Json& other);
  Json& operator=(Json&& other) noexcept;
  ~Json();

  static Json array();
  static Json object();

  // The value of the key of an object, null if there was none. What is null becomes an object.
  Json& operator[](std::string_view key);
  // Of an array. What is null becomes one.
  void push_back(Json value);
  // Sets the values of another object's keys.
  void update(const Json& object);

  // On several lines with `indent` spaces a level, or on one line for -1. What is not UTF-8 becomes U+FFFD.
  std::string dump(int indent) const;

 private:
  struct Bool {
    bool value;
  };
  struct Signed {
    std::int64_t value;
  };
  struct Unsigned {
    std::uint64_t value;
  };
  using Array = std::vector<Json>;
  using Object = std::vector<std::pair<std::string, Json>>;

  explicit Json(Bool value) noexcept;
  explicit Json(Signed value) noexcept;
  explicit Json(Unsigned value) noexcept;
  bool is_pair() const noexcept;
  friend struct JsonWriter;

  std::variant<std::monostate, bool, std::int64_t, std::uint64_t, double, std::string, Array, Object> value_;
};

}  // namespace bloomgate
