#pragma once

#include <cstddef>
#include <limits>
#include <string>
#include <vector>

#include "base/json.h"

namespace belljar::tools {

// One argument of a tool: what it is for and what it may be. The JSON Schema that clients see and
// the check of what they send are made from the same fields, so they cannot differ.
struct Parameter {
  enum class Type {
    boolean,
    integer,  // 1.0 is one, 1.5 is not
    number,
    string,
    bytes,   // "512m", or a plain number of bytes
    array,   // `fields` has one parameter: that of the items
    map,     // of strings, with free keys
    object,  // `fields` are its members
  };
  enum class Nul { allowed, refused };

  std::string name = {};
  Type type = Type::string;
  std::string description = {};
  bool required = false;
  Nul nul = Nul::refused;                              // may a string hold U+0000?
  json::value fallback = nullptr;                      // the value when it is not given; null: none
  double min = std::numeric_limits<double>::lowest();  // of a number or of bytes
  double max = std::numeric_limits<double>::max();
  size_t min_length = 0;  // bytes of a string, entries of an array or map
  size_t max_length = std::numeric_limits<size_t>::max();
  std::vector<std::string> choices = {};  // of a string; empty: any
  std::vector<Parameter> fields = {};
};

// The schema of an object with these members, and no others.
json::object schema_of(const std::vector<Parameter>& parameters);

// In words, for errors: "an integer from 1 to 600000".
std::string describe(const Parameter& parameter);

}  // namespace belljar::tools
