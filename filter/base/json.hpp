// JSON values, to write and to read. Keys are written in the order in which they were given.
//   const Json json = {{"file", path}, {"entries", count}, {"sections", Json::array()}};
// A reader asks for a value by its key and its kind. If the key is missing, or the value has another kind, there is
// none.
//   const double score = Json::parse(reply).at("score").number().value_or(0);
// Only json.cpp includes nlohmann-json, which reads and writes it: that header alone takes a compiler longer than the
// file of a whole command. Several threads may read one value. While one thread changes it, no other may use it.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace bloomgate {

// A text cannot be read: it "is not JSON", or "is nested too deeply".
struct JsonError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

class Json {
 public:
  using Array = std::vector<Json>;
  using Object = std::vector<std::pair<std::string, Json>>;

  static constexpr std::size_t kMaxDepth = 16;  // levels of a text that is read

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
  // An object if each element is a list of a text and a value; otherwise an array. {} is null.
  Json(std::initializer_list<Json> list);
  Json(const Json& other);
  Json(Json&& other) noexcept;
  Json& operator=(const Json& other);
  Json& operator=(Json&& other) noexcept;
  ~Json();

  static Json array();
  static Json object();

  // Reads one value. The text may be hostile; text that is not UTF-8 is refused. Throws JsonError. O(bytes).
  static Json parse(std::string_view text);

  // The value of an object's key; null if this is no object or the key is missing. If the object has the key twice, the
  // last value counts. O(keys).
  const Json& at(std::string_view key) const noexcept;
  bool is_array() const noexcept { return std::holds_alternative<Array>(value_); }
  bool is_true() const noexcept;
  std::optional<double> number() const noexcept;
  std::optional<std::string_view> text() const noexcept;         // valid as long as the value is
  std::span<const Json> elements() const noexcept;               // of an array; else empty
  std::span<const Object::value_type> members() const noexcept;  // of an object, in their order there; else empty

  // The value of an object's key; a new null if the key was missing. A null becomes an object.
  Json& operator[](std::string_view key);
  // For an array. A null becomes an array.
  void push_back(Json value);
  // Sets the values of another object's keys.
  void update(const Json& object);

  // On several lines with `indent` spaces a level, or on one line for -1. Bytes that are not UTF-8 become U+FFFD.
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
  explicit Json(Bool value) noexcept;
  explicit Json(Signed value) noexcept;
  explicit Json(Unsigned value) noexcept;
  bool is_pair() const noexcept;
  friend struct JsonWriter;
  friend struct JsonReader;

  std::variant<std::monostate, bool, std::int64_t, std::uint64_t, double, std::string, Array, Object> value_;
};

}  // namespace bloomgate
