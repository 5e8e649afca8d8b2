#include "drivers/linux/launcher/message.h"

#include <gtest/gtest.h>

namespace belljar::launcher {
namespace {

Request request_of(RequestType type) {
  Request request{};
  request.type = type;
  return request;
}

Request create_request() {
  Request request = request_of(RequestType::create);
  request.limits = {512 << 20, 512 << 20, 100'000, 1000, 256};
  return request;
}

Request start_request(uint32_t argc, uint32_t envc) {
  Request request = request_of(RequestType::start);
  request.argc = argc;
  request.envc = envc;
  return request;
}

std::string strings(size_t count) {
  std::string payload;
  for (size_t i = 0; i < count; ++i) payload += std::string{"word"} + '\0';
  return payload;
}

TEST(Message, KnowsEachRequestInItsProperForm) {
  EXPECT_TRUE(is_well_formed(request_of(RequestType::prepare), "", 0));
  EXPECT_TRUE(is_well_formed(request_of(RequestType::prepare), "", 1));
  EXPECT_TRUE(is_well_formed(request_of(RequestType::prepare), "certificates", 1));
  EXPECT_TRUE(is_well_formed(create_request(), "", 0));
  EXPECT_TRUE(is_well_formed(create_request(), "", 1));
  EXPECT_TRUE(is_well_formed(start_request(2, 1), strings(3), 3));
  EXPECT_TRUE(is_well_formed(start_request(2, 1), strings(4), 4));
  EXPECT_TRUE(is_well_formed(request_of(RequestType::kill), "", 0));
  EXPECT_TRUE(is_well_formed(request_of(RequestType::destroy), "", 0));
  EXPECT_TRUE(is_well_formed(request_of(RequestType::socket), "", 0));
  EXPECT_TRUE(is_well_formed(request_of(RequestType::mount), "", 1));
  EXPECT_TRUE(is_well_formed(request_of(RequestType::mount), "", 2));
  EXPECT_TRUE(is_well_formed(request_of(RequestType::park), "", 0));
  Request park = request_of(RequestType::park);
  park.flags = kExecuted;
  EXPECT_TRUE(is_well_formed(park, "", 0));
  Request zygote = create_request();
  zygote.type = RequestType::zygote;
  for (const uint32_t what : {0u, uint32_t{kRenew}, uint32_t{kRetire}}) {
    zygote.flags = what;
    EXPECT_TRUE(is_well_formed(zygote, "", 0)) << what;
  }
  for (const uint32_t way : {kForked, kParked}) {
    Request start = start_request(2, 1);
    start.flags = way;
    EXPECT_TRUE(is_well_formed(start, strings(4), 4));
  }
  Request seal = request_of(RequestType::seal);
  seal.own_id = 1000;
  EXPECT_TRUE(is_well_formed(seal, "", 1));
  EXPECT_TRUE(is_well_formed(seal, "", 2));
  EXPECT_TRUE(is_well_formed(seal, "", kMaxFds));
  EXPECT_FALSE(is_well_formed(seal, "", 0));
}

TEST(Message, RefusesWhatNoTypeHas) {
  EXPECT_FALSE(is_well_formed(request_of(RequestType{}), "", 0));
  EXPECT_FALSE(is_well_formed(request_of(RequestType{99}), "", 0));
  EXPECT_FALSE(is_well_formed(request_of(RequestType::kill), "", 1));
  EXPECT_FALSE(is_well_formed(request_of(RequestType::destroy), "x", 0));
  EXPECT_FALSE(is_well_formed(request_of(RequestType::park), "", 1));
  EXPECT_FALSE(is_well_formed(request_of(RequestType::mount), "", 0)) << "no packages";
  EXPECT_FALSE(is_well_formed(request_of(RequestType::mount), "", 3));
  EXPECT_FALSE(is_well_formed(request_of(RequestType::mount), "a path", 1));
  EXPECT_FALSE(is_well_formed(request_of(RequestType::zygote), "", 0)) << "no limits";
  EXPECT_FALSE(is_well_formed(request_of(RequestType::prepare), "", 2));
  EXPECT_FALSE(is_well_formed(create_request(), "", 2));
  Request zygote = create_request();
  zygote.type = RequestType::zygote;
  for (const uint32_t flags : {kRenew | kRetire, kRenew | kForked, 1u << 8}) {
    zygote.flags = flags;
    EXPECT_FALSE(is_well_formed(zygote, "", 0)) << flags;
  }
  Request park = request_of(RequestType::park);
  park.flags = kRenew;
  EXPECT_FALSE(is_well_formed(park, "", 0));
  Request mount = request_of(RequestType::mount);
  mount.flags = kForked;
  EXPECT_FALSE(is_well_formed(mount, "", 1));
  Request socket = request_of(RequestType::socket);
  socket.flags = 1u << 31;
  EXPECT_FALSE(is_well_formed(socket, "", 0));
}

TEST(Message, RefusesLimitsThatWouldMeanNone) {
  for (auto spoil : {+[](SandboxLimits& limits) { limits.memory = 0; },
                     +[](SandboxLimits& limits) { limits.memory = ~0ull; },
                     +[](SandboxLimits& limits) { limits.disk = 0; },
                     +[](SandboxLimits& limits) { limits.inodes = ~0ull; },
                     +[](SandboxLimits& limits) { limits.cpu_millis = 0; },
                     +[](SandboxLimits& limits) { limits.pids = 0; },
                     +[](SandboxLimits& limits) { limits.pids = ~0u; }}) {
    Request request = create_request();
    spoil(request.limits);
    EXPECT_FALSE(is_well_formed(request, "", 0));
  }
}

TEST(Message, RefusesCommandsWhoseStringsDoNotAddUp) {
  EXPECT_FALSE(is_well_formed(start_request(0, 1), strings(1), 3)) << "no command";
  EXPECT_FALSE(is_well_formed(start_request(2, 1), strings(2), 3)) << "too few strings";
  EXPECT_FALSE(is_well_formed(start_request(2, 1), strings(4), 3)) << "too many strings";
  EXPECT_FALSE(is_well_formed(start_request(1, 0), "no end", 3)) << "no NUL";
  EXPECT_FALSE(is_well_formed(start_request(1, 0), strings(1), 2)) << "no stderr";
  EXPECT_FALSE(is_well_formed(start_request(~0u, 2), strings(1), 3)) << "a sum that overflows";
  EXPECT_FALSE(is_well_formed(start_request(5000, 0), strings(5000), 3)) << "too many";
}

TEST(Message, BelljarCannotAskToBeRootOrASandbox) {
  for (const uint32_t id : {0u, 0x60000000u, ~0u}) {
    Request seal = request_of(RequestType::seal);
    seal.own_id = id;
    EXPECT_FALSE(is_well_formed(seal, "", 1)) << id;
  }
}

TEST(Message, CutsThePayloadIntoStrings) {
  std::string payload = strings(3);
  const auto parts = split_strings(payload, 3);
  ASSERT_EQ(parts.size(), 3u);
  EXPECT_STREQ(parts[2], "word");
  EXPECT_TRUE(split_strings(payload, 2).empty());
}

}  // namespace
}  // namespace belljar::launcher
