#pragma once

#include <gtest/gtest.h>

#include "drivers/contract_programs.h"

namespace belljar::contract {

// The tests of the suite are in contract_*_test.cc; contract_fixture.cc asks them of every driver.
class DriverContract : public testing::TestWithParam<DriverUnderTest> {
 protected:
  // Runs the body with a driver of its own, which is shut down whatever happens. Skips the test if
  // the machine does not have what the driver needs.
  void check(Task<> (*body)(Bench&));
};

}  // namespace belljar::contract
