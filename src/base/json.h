#pragma once

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <boost/json/string.hpp>
#include <boost/json/value.hpp>
#include <string_view>

namespace belljar {

namespace json = boost::json;

// The member, or nullptr. For reading what strangers sent, where any part may be missing or of
// another type than expected.
inline const json::value* find(const json::object& object, std::string_view key) {
  const auto at = object.find(key);
  return at == object.end() ? nullptr : &at->value();
}
inline const json::object* find_object(const json::object& object, std::string_view key) {
  const json::value* value = find(object, key);
  return value != nullptr ? value->if_object() : nullptr;
}
inline const json::string* find_string(const json::object& object, std::string_view key) {
  const json::value* value = find(object, key);
  return value != nullptr ? value->if_string() : nullptr;
}

}  // namespace belljar
