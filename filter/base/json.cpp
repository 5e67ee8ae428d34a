#include "filter/base/json.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace bloomgate {

Json::Json() noexcept = default;
Json::Json(std::nullptr_t) noexcept {}
Json::Json(Bool value) noexcept : value_(value.value) {}
Json::Json(Signed value) noexcept : value_(value.value) {}
Json::Json(Unsigned value) noexcept : value_(value.value) {}
Json::Json(double value) noexcept : value_(value) {}
Json::Json(const char* text) : value_(std::string(text)) {}
Json::Json(std::string_view text) : value_(std::string(text)) {}
Json::Json(const std::string& text) : value_(text) {}
Json::Json(const Json& other) = default;
Json::Json(Json&& other) noexcept = default;
Json& Json::operator=(const Json& other) = default;
Json& Json::operator=(Json&& other) noexcept = default;
Json::~Json() = default;

bool Json::is_pair() const noexcept {
  const Array* const array = std::get_if<Array>(&value_);
  return array != nullptr && array->size() == 2 && std::holds_alternative<std::string>(array->front().value_);
}

Json::Json(std::initializer_list<Json> list) {
  if (!std::ranges::all_of(list, &Json::is_pair)) {
    value_ = Array(list);
    return;
  }
  Object object;
  for (const Json& pair : list) {
    const Array& array = std::get<Array>(pair.value_);
    object.emplace_back(std::get<std::string>(array[0].value_), array[1]);
  }
  value_ = std::move(object);
}

Json Json::array() {
  Json json;
  json.value_ = Array();
  return json;
}

Json Json::object() {
  Json json;
  json.value_ = Object();
  return json;
}

Json& Json::operator[](std::string_view key) {
  if (std::holds_alternative<std::monostate>(value_)) value_ = Object();
  Object& object = std::get<Object>(value_);
  const auto found = std::ranges::find(object, key, &Object::value_type::first);
  return found != object.end() ? found->second : object.emplace_back(key, Json()).second;
}

const Json& Json::at(std::string_view key) const noexcept {
  static const Json none;
  const std::span<const Object::value_type> all = members();
  const auto found = std::ranges::find(all.rbegin(), all.rend(), key, &Object::value_type::first);
  return found != all.rend() ? found->second : none;
}

bool Json::is_true() const noexcept {
  const bool* const value = std::get_if<bool>(&value_);
  return value != nullptr && *value;
}

std::optional<double> Json::number() const noexcept {
  if (const auto* const value = std::get_if<double>(&value_)) return *value;
  if (const auto* const value = std::get_if<std::int64_t>(&value_)) return static_cast<double>(*value);
  if (const auto* const value = std::get_if<std::uint64_t>(&value_)) return static_cast<double>(*value);
  return std::nullopt;
}

std::optional<std::string_view> Json::text() const noexcept {
  const auto* const value = std::get_if<std::string>(&value_);
  return value != nullptr ? std::optional<std::string_view>(*value) : std::nullopt;
}

std::span<const Json> Json::elements() const noexcept {
  const Array* const value = std::get_if<Array>(&value_);
  return value != nullptr ? std::span(*value) : std::span<const Json>();
}

std::span<const Json::Object::value_type> Json::members() const noexcept {
  const Object* const value = std::get_if<Object>(&value_);
  return value != nullptr ? std::span(*value) : std::span<const Object::value_type>();
}

void Json::push_back(Json value) {
  if (std::holds_alternative<std::monostate>(value_)) value_ = Array();
  std::get<Array>(value_).push_back(std::move(value));
}

void Json::update(const Json& object) {
  for (const auto& [key, value] : std::get<Object>(object.value_)) (*this)[key] = value;
}

struct JsonWriter {
  using Written = nlohmann::ordered_json;

  Written operator()(std::monostate) const { return nullptr; }
  Written operator()(const auto& value) const { return value; }
  Written operator()(const Json::Array& array) const {
    Written written = Written::array();
    for (const Json& value : array) written.push_back(std::visit(*this, value.value_));
    return written;
  }
  Written operator()(const Json::Object& object) const {
    Written written = Written::object();
    for (const auto& [key, value] : object) written[key] = std::visit(*this, value.value_);
    return written;
  }
};

std::string Json::dump(int indent) const {
  return std::visit(JsonWriter(), value_).dump(indent, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

// nlohmann-json calls it for each token of a text. The calls are not nested, so deep nesting uses no stack.
struct JsonReader {
  Json read;
  std::vector<Json*> open;  // the arrays and objects around the next value, the innermost last
  const char* fault = "is not JSON";

  // Where the next value goes.
  Json& place() {
    if (open.empty()) return read;
    Json& parent = *open.back();
    if (parent.is_array()) return std::get<Json::Array>(parent.value_).emplace_back();
    return std::get<Json::Object>(parent.value_).back().second;
  }
  bool put(Json value) {
    place() = std::move(value);
    return true;
  }
  bool enter(Json empty) {
    if (open.size() == Json::kMaxDepth) {
      fault = "is nested too deeply";
      return false;
    }
    open.push_back(&(place() = std::move(empty)));
    return true;
  }
  bool leave() {
    open.pop_back();
    return true;
  }

  // The library calls these, so it determines the names.
  bool null() { return put({}); }
  bool boolean(bool value) { return put(value); }
  bool number_integer(std::int64_t value) { return put(value); }
  bool number_unsigned(std::uint64_t value) { return put(value); }
  bool number_float(double value, const std::string&) { return put(value); }
  bool string(const std::string& value) { return put(value); }
  bool binary(const nlohmann::ordered_json::binary_t&) { return false; }  // only in binary formats
  bool start_object(std::size_t) { return enter(Json::object()); }
  bool key(const std::string& name) {
    std::get<Json::Object>(open.back()->value_).emplace_back(name, Json());
    return true;
  }
  bool end_object() { return leave(); }
  bool start_array(std::size_t) { return enter(Json::array()); }
  bool end_array() { return leave(); }
  bool parse_error(std::size_t, const std::string&, const nlohmann::ordered_json::exception&) { return false; }
};

Json Json::parse(std::string_view text) {
  JsonReader reader;
  // nlohmann-json treats a zero byte as the end of the text.
  if (text.find('\0') != text.npos || !JsonWriter::Written::sax_parse(text, &reader)) throw JsonError(reader.fault);
  return std::move(reader.read);
}

}  // namespace bloomgate
