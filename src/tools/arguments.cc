#include "tools/arguments.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>

#include "base/bytes.h"
#include "base/error.h"
#include "base/utf8.h"

namespace belljar::tools {

namespace {

using Type = Parameter::Type;

constexpr size_t kShownLength = 60;

[[noreturn]] void refuse(const std::string& path, const json::value& value,
                         const Parameter& parameter) {
  fail(Code::invalid, "argument \"{}\" is {}; it must be {}", path, shown(value),
       describe(parameter));
}

std::optional<double> as_number(const json::value& value) {
  if (const auto* number = value.if_int64()) return static_cast<double>(*number);
  if (const auto* number = value.if_uint64()) return static_cast<double>(*number);
  if (const auto* number = value.if_double(); number != nullptr && std::isfinite(*number)) {
    return *number;
  }
  return std::nullopt;
}

void check_text(const std::string& path, std::string_view text, Parameter::Nul nul) {
  if (!is_utf8(text)) {
    fail(Code::invalid, "argument \"{}\" is not valid UTF-8; it must be Unicode text", path);
  }
  const size_t at = text.find('\0');
  if (nul == Parameter::Nul::refused && at != std::string_view::npos) {
    fail(Code::invalid,
         "argument \"{}\" contains a NUL character at byte {}; it must be text without U+0000",
         path, at);
  }
}

json::value check_number(const std::string& path, const json::value& value,
                         const Parameter& parameter) {
  const std::optional<double> number = as_number(value);
  const bool whole = number && *number == std::floor(*number) && std::abs(*number) < 9e15;
  if (!number || *number < parameter.min || *number > parameter.max ||
      (parameter.type == Type::integer && !whole)) {
    refuse(path, value, parameter);
  }
  if (parameter.type == Type::integer) return json::value(static_cast<int64_t>(*number));
  return json::value(*number);
}

json::value check_bytes(const std::string& path, const json::value& value,
                        const Parameter& parameter) {
  std::optional<uint64_t> bytes;
  if (const auto* text = value.if_string()) {
    bytes = parse_bytes(std::string_view{text->data(), text->size()});
  } else if (const auto number = as_number(value);
             number && *number >= 0 && *number == std::floor(*number) && *number < 9e15) {
    bytes = static_cast<uint64_t>(*number);
  }
  const double amount = bytes ? static_cast<double>(*bytes) : -1;
  if (!bytes || amount < parameter.min || amount > parameter.max) refuse(path, value, parameter);
  return json::value(*bytes);
}

json::value check_string(const std::string& path, const json::value& value,
                         const Parameter& parameter) {
  const json::string* text = value.if_string();
  if (text == nullptr || text->size() < parameter.min_length ||
      text->size() > parameter.max_length) {
    refuse(path, value, parameter);
  }
  check_text(path, *text, parameter.nul);
  const auto& choices = parameter.choices;
  if (!choices.empty() && std::find(choices.begin(), choices.end(), *text) == choices.end()) {
    refuse(path, value, parameter);
  }
  return value;
}

json::object check_object(const std::string& path, const json::object& sent,
                          const std::vector<Parameter>& parameters);
json::value check(const std::string& path, const json::value& value, const Parameter& parameter);

json::value check_array(const std::string& path, const json::value& value,
                        const Parameter& parameter) {
  const json::array* items = value.if_array();
  if (items == nullptr || items->size() < parameter.min_length ||
      items->size() > parameter.max_length) {
    refuse(path, value, parameter);
  }
  json::array checked;
  for (size_t i = 0; i < items->size(); ++i) {
    checked.push_back(check(fmt::format("{}[{}]", path, i), (*items)[i], parameter.fields.at(0)));
  }
  return checked;
}

json::value check_map(const std::string& path, const json::value& value,
                      const Parameter& parameter) {
  const json::object* object = value.if_object();
  if (object == nullptr) refuse(path, value, parameter);
  Parameter item;
  for (const auto& [key, member] : *object) {
    check_text(path, key, Parameter::Nul::refused);
    check_string(fmt::format("{}.{}", path, key.substr(0, utf8_prefix(key, kShownLength))), member,
                 item);
  }
  return value;
}

json::value check(const std::string& path, const json::value& value, const Parameter& parameter) {
  switch (parameter.type) {
    case Type::boolean:
      if (!value.is_bool()) refuse(path, value, parameter);
      return value;
    case Type::integer:
    case Type::number: return check_number(path, value, parameter);
    case Type::string: return check_string(path, value, parameter);
    case Type::bytes: return check_bytes(path, value, parameter);
    case Type::array: return check_array(path, value, parameter);
    case Type::map: return check_map(path, value, parameter);
    case Type::object: break;
  }
  const json::object* object = value.if_object();
  if (object == nullptr) refuse(path, value, parameter);
  return check_object(path + ".", *object, parameter.fields);
}

[[noreturn]] void refuse_unknown(const std::string& path, std::string_view name,
                                 const std::vector<Parameter>& parameters) {
  std::vector<std::string> known;
  known.reserve(parameters.size());
  for (const Parameter& parameter : parameters) known.push_back(parameter.name);
  const std::string written = path + to_utf8(name.substr(0, utf8_prefix(name, kShownLength)));
  if (const auto guess = nearest(name, known)) {
    fail(Code::invalid, "argument \"{}\" is unknown; did you mean \"{}{}\"?", written, path,
         *guess);
  }
  if (known.empty()) fail(Code::invalid, "argument \"{}\" is unknown; there are none", written);
  fail(Code::invalid, "argument \"{}\" is unknown; it must be one of {}", written,
       fmt::join(known, ", "));
}

json::object check_object(const std::string& path, const json::object& sent,
                          const std::vector<Parameter>& parameters) {
  for (const auto& member : sent) {
    const std::string_view name = member.key();
    const auto same_name = [name](const Parameter& p) { return name == p.name; };
    if (std::none_of(parameters.begin(), parameters.end(), same_name)) {
      refuse_unknown(path, name, parameters);
    }
  }
  json::object checked;
  for (const Parameter& parameter : parameters) {
    const json::value* value = find(sent, parameter.name);
    if (value != nullptr && !value->is_null()) {
      checked[parameter.name] = check(path + parameter.name, *value, parameter);
    } else if (parameter.required) {
      fail(Code::invalid, "argument \"{}{}\" is missing; it must be {}", path, parameter.name,
           describe(parameter));
    } else if (!parameter.fallback.is_null()) {
      checked[parameter.name] = check(path + parameter.name, parameter.fallback, parameter);
    }
  }
  return checked;
}

std::string in_lower_case(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (c != '_' && c != '-') {
      result += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    }
  }
  return result;
}

// The number of insertions, removals and replacements that make one text of the other.
size_t distance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({replaced, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row[b.size()];
}

}  // namespace

std::string shown(const json::value& value) {
  if (const auto* text = value.if_string(); text != nullptr && text->size() > kShownLength) {
    return fmt::format("a string of {}", format_bytes(text->size()));
  }
  if (const auto* array = value.if_array(); array != nullptr && !array->empty()) {
    return fmt::format("an array of {}", array->size());
  }
  if (const auto* object = value.if_object(); object != nullptr && !object->empty()) {
    return fmt::format("an object of {}", object->size());
  }
  if (const auto* number = value.if_double()) return fmt::format("{}", *number);
  return to_utf8(json::serialize(value));
}

std::optional<std::string> nearest(std::string_view name, const std::vector<std::string>& names) {
  if (name.size() > kShownLength) return std::nullopt;
  const std::string wanted = in_lower_case(name);
  std::optional<std::string> best;
  size_t best_distance = 0;
  for (const std::string& candidate : names) {
    const std::string known = in_lower_case(candidate);
    const bool part = wanted.size() >= 3 && (known.starts_with(wanted) || known.ends_with(wanted));
    const size_t far = part ? 1 : distance(wanted, known);
    if (far > std::max<size_t>(1, known.size() / 3)) continue;
    if (!best || far < best_distance) {
      best = candidate;
      best_distance = far;
    }
  }
  return best;
}

Arguments Arguments::read(const std::vector<Parameter>& parameters, const json::object& sent) {
  return Arguments{check_object("", sent, parameters)};
}

std::string Arguments::string(std::string_view name) const {
  const json::string& text = values_.at(name).as_string();
  return std::string{text.data(), text.size()};
}

std::vector<std::string> Arguments::strings(std::string_view name) const {
  std::vector<std::string> result;
  const json::value* value = find(values_, name);
  if (value == nullptr) return result;
  for (const json::value& item : value->as_array()) {
    const json::string& text = item.as_string();
    result.emplace_back(text.data(), text.size());
  }
  return result;
}

std::map<std::string, std::string> Arguments::map(std::string_view name) const {
  std::map<std::string, std::string> result;
  const json::value* value = find(values_, name);
  if (value == nullptr) return result;
  for (const auto& [key, member] : value->as_object()) {
    const json::string& text = member.as_string();
    result.emplace(key, std::string{text.data(), text.size()});
  }
  return result;
}

Arguments Arguments::object(std::string_view name) const {
  const json::value* value = find(values_, name);
  return Arguments{value == nullptr ? json::object{} : value->as_object()};
}

std::vector<Arguments> Arguments::objects(std::string_view name) const {
  std::vector<Arguments> result;
  const json::value* value = find(values_, name);
  if (value == nullptr) return result;
  for (const json::value& item : value->as_array()) result.push_back(Arguments{item.as_object()});
  return result;
}

size_t Arguments::count(std::string_view name) const {
  const json::value* value = find(values_, name);
  return value == nullptr ? 0 : value->as_array().size();
}

}  // namespace belljar::tools
