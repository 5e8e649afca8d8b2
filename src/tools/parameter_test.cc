#include "tools/parameter.h"

#include <gtest/gtest.h>

namespace belljar::tools {
namespace {

using Type = Parameter::Type;

json::value property(Parameter parameter) {
  const std::string name = parameter.name;
  return schema_of({std::move(parameter)}).at("properties").at(name);
}

TEST(Schema, NamesTheRequiredMembersAndAllowsNoOthers) {
  const json::value schema =
      schema_of({Parameter{.name = "code", .required = true}, Parameter{.name = "image"}});
  EXPECT_EQ(schema, json::parse(R"({"type":"object",
      "properties":{"code":{"type":"string"},"image":{"type":"string"}},
      "required":["code"],"additionalProperties":false})"));
}

TEST(Schema, CarriesBoundsDefaultsAndDescriptions) {
  EXPECT_EQ(property(Parameter{.name = "timeoutMs",
                               .type = Type::integer,
                               .description = "How long.",
                               .fallback = json::value(30000),
                               .min = 1,
                               .max = 600000}),
            json::parse(R"({"type":"integer","description":"How long.","minimum":1,"maximum":600000,
                            "default":30000})"));
  EXPECT_EQ(property(Parameter{.name = "code", .min_length = 1, .max_length = 9}),
            json::parse(R"({"type":"string","minLength":1,"maxLength":9})"));
  EXPECT_EQ(property(Parameter{.name = "language", .choices = {"a", "b"}}),
            json::parse(R"({"type":"string","enum":["a","b"]})"));
}

TEST(Schema, DescribesListsMapsAndAmounts) {
  EXPECT_EQ(
      property(Parameter{.name = "commands",
                         .type = Type::array,
                         .min_length = 1,
                         .fields = {Parameter{.min_length = 1}}}),
      json::parse(R"({"type":"array","items":{"type":"string","minLength":1},"minItems":1})"));
  EXPECT_EQ(property(Parameter{.name = "env", .type = Type::map}),
            json::parse(R"({"type":"object","additionalProperties":{"type":"string"}})"));
  EXPECT_EQ(property(Parameter{.name = "memory", .type = Type::bytes, .min = 1, .max = 9}),
            json::parse(R"({"anyOf":[{"type":"string"},{"type":"integer"}]})"));
}

TEST(Schema, WritesWholeNumbersWithoutAnExponent) {
  const json::value schema = property(Parameter{.name = "cpus", .type = Type::number, .max = 4});
  EXPECT_EQ(json::serialize(schema), R"({"type":"number","maximum":4})");
}

}  // namespace
}  // namespace belljar::tools
