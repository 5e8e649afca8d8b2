#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "tools/parameter.h"

namespace belljar::tools {

// The arguments of one call after they were checked against the tool's parameters: each value has
// the type and the bounds of its parameter, and defaults are filled in. A null counts as not given.
//
//   const Arguments arguments = Arguments::read(parameters, sent);
//   const std::string code = arguments.string("code");
class Arguments {
 public:
  // Error{invalid} that names the argument, what it was (shortened) and what it may be:
  // `argument "timeoutMs" is -5; it must be an integer from 1 to 600000`.
  static Arguments read(const std::vector<Parameter>& parameters, const json::object& sent);

  // False if it was not given and has no default. The functions below need one that is there.
  bool has(std::string_view name) const { return values_.contains(name); }

  std::string string(std::string_view name) const;
  bool boolean(std::string_view name) const { return values_.at(name).as_bool(); }
  int64_t integer(std::string_view name) const { return values_.at(name).as_int64(); }
  double number(std::string_view name) const { return values_.at(name).as_double(); }
  uint64_t bytes(std::string_view name) const { return values_.at(name).as_uint64(); }

  // Nothing if they were not given.
  std::vector<std::string> strings(std::string_view name) const;
  std::map<std::string, std::string> map(std::string_view name) const;
  Arguments object(std::string_view name) const;
  std::vector<Arguments> objects(std::string_view name) const;  // the items of an array
  size_t count(std::string_view name) const;                    // of an array's items

 private:
  explicit Arguments(json::object values) : values_{std::move(values)} {}

  json::object values_;
};

// A value as errors show it: its JSON, or its size if that is too long.
std::string shown(const json::value& value);

// The one of `names` that `name` may be a slip of; nothing if none is near.
std::optional<std::string> nearest(std::string_view name, const std::vector<std::string>& names);

}  // namespace belljar::tools
