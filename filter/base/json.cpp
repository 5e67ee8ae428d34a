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
  return std::visit(JsonWriter(), value_).dump(indent, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace bloomgate
