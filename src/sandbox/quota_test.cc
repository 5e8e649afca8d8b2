#include "sandbox/quota.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>

#include "base/error.h"

namespace belljar {
namespace {

using testing::HasSubstr;

std::string refusal(Quota& quota, const std::string& owner) {
  try {
    quota.take(owner);
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), Code::exhausted);
    return e.what();
  }
  return "";
}

TEST(Quota, RefusesMoreThanAnOwnerMayHaveAndSaysWhatToDo) {
  Quota quota{{.total = 10, .per_owner = 2}};
  const auto first = quota.take("ann");
  const auto second = quota.take("ann");
  EXPECT_THAT(refusal(quota, "ann"), HasSubstr("you already have 2 live sandboxes"));
  EXPECT_THAT(refusal(quota, "ann"), HasSubstr("sandbox_stop"));
  EXPECT_EQ(refusal(quota, "bob"), "");
}

TEST(Quota, RefusesMoreThanTheServerMayHave) {
  Quota quota{{.total = 2, .per_owner = 2}};
  const auto first = quota.take("ann");
  const auto second = quota.take("bob");
  EXPECT_THAT(refusal(quota, "cid"), HasSubstr("this server already has 2 live sandboxes"));
}

TEST(Quota, GivesAPlaceBackOnceHoweverItEnds) {
  Quota quota{{.total = 1, .per_owner = 1}};
  {
    auto place = quota.take("ann");
    const auto moved = std::move(place);
    EXPECT_EQ(quota.used(), 1u);
  }
  EXPECT_EQ(quota.used(), 0u);
  auto place = quota.take("ann");
  place.release();
  place.release();
  EXPECT_EQ(quota.used(), 0u);
}

TEST(Quota, APlaceMayOutliveIt) {
  std::optional<Quota> quota{QuotaLimits{}};
  auto place = quota->take("ann");
  quota.reset();
  place.release();
}

}  // namespace
}  // namespace belljar
