#include <gtest/gtest.h>

#include "tools/advice_testing.h"

namespace belljar::tools {
namespace {

// What fetch() says when its connection is refused.
constexpr const char* kRefused = R"(TypeError: fetch failed
    at async file:///workspace/index.js:1:1 {
  [cause]: Error: connect ECONNREFUSED 10.1.2.3:80
      at TCPConnectWrap.afterConnect [as oncomplete] (node:net:1637:16) {
    errno: -111,
    code: 'ECONNREFUSED',
    syscall: 'connect',
    address: '10.1.2.3',
    port: 80
  }
})";

struct Blocked : Failure {
  Blocked(const char* host, uint16_t port) : Failure{"await fetch('http://10.1.2.3');"} {
    run.network = Network::gated;
    run.max_network = network::Policy::parse("internet");
    report.network.push_back({"fine.test", 443, Traffic::Verdict::allowed, 1, 1});
    report.network.push_back({host, port, Traffic::Verdict::blocked, 1, 0});
  }
};

TEST(AdviceOnWhatIsBlocked, SaysWhatTheOperatorCanAllow) {
  Blocked failure{"10.1.2.3", 80};
  EXPECT_EQ(failure.uncaught(kRefused),
            "blocked: 10.1.2.3:80; the operator can allow it with max-network = "
            "\"allow:10.1.2.3:80\".");
}

TEST(AdviceOnWhatIsBlocked, AnAddressThatContainsTheLoopbackAddressIsAnother) {
  Blocked failure{"api.example.com", 8080};
  EXPECT_EQ(failure.uncaught(R"(TypeError: fetch failed
    at async file:///workspace/index.js:1:1 {
  [cause]: AggregateError [ECONNREFUSED]:
      at internalConnectMultiple (node:net:1135:18) {
    code: 'ECONNREFUSED',
    [errors]: [
      Error: connect ECONNREFUSED 2606:4700::1111:8080
          at createConnectionError (node:net:1679:14) {
        errno: -111,
        code: 'ECONNREFUSED',
        syscall: 'connect',
        address: '2606:4700::1111',
        port: 8080
      }
    ]
  }
})"),
            "blocked: api.example.com:8080; this call may ask for it with \"network\": "
            "\"allow:api.example.com:8080\".");
}

TEST(AdviceOnWhatIsBlocked, SaysWhatTheCallMayAskFor) {
  Blocked failure{"api.example.com", 443};
  EXPECT_EQ(failure.uncaught(kRefused),
            "blocked: api.example.com:443; this call may ask for it with \"network\": "
            "\"allow:api.example.com:443\".");
  failure.run.session = true;
  EXPECT_EQ(failure.uncaught(kRefused),
            "blocked: api.example.com:443; a sandbox that is made with \"network\": "
            "\"allow:api.example.com:443\" can reach it.");
}

TEST(AdviceOnWhatIsBlocked, ALookUpHasNoPort) {
  Blocked failure{"api.example.com", 0};
  failure.run.max_network = network::Policy::parse("allow:other.test");
  EXPECT_EQ(failure.uncaught(kRefused),
            "blocked: api.example.com; the operator can allow it with max-network = "
            "\"allow:api.example.com\".");
}

TEST(AdviceOnWhatIsBlocked, AnIpv6AddressIsWrittenAsPoliciesHaveIt) {
  Blocked failure{"fd00::7", 80};
  EXPECT_EQ(failure.uncaught(kRefused),
            "blocked: [fd00::7]:80; the operator can allow it with max-network = "
            "\"allow:[fd00::7]:80\".");
}

// One that was refused because of a limit, among places that were blocked.
struct OverLimit : Blocked {
  OverLimit(uint64_t own, uint64_t shared) : Blocked{"10.1.2.3", 80} {
    report.network.push_back({"fine.test", 443, Traffic::Verdict::failed, 9, 0, own, shared});
    report.network.push_back({"10.1.2.4", 80, Traffic::Verdict::blocked, 1, 0});
  }
};

TEST(AdviceOnWhatIsBlocked, TheLimitOfASandboxIsNamed) {
  OverLimit failure{2, 1};
  EXPECT_EQ(failure.uncaught(kRefused),
            "refused: fine.test:443; the limit of 128 connections at a time was reached. Open "
            "fewer at a time, close those that are done, and try what was refused again.");
}

TEST(AdviceOnWhatIsBlocked, TheLimitOfAllSandboxesIsAnother) {
  OverLimit failure{0, 1};
  EXPECT_EQ(failure.uncaught(kRefused),
            "refused: fine.test:443; all sandboxes together have as many connections as this "
            "server may have. Open fewer at a time, close those that are done, and try what was "
            "refused again.");
}

TEST(AdviceOnWhatIsBlocked, AFailureOutsideReachedNoLimit) {
  OverLimit failure{0, 0};
  EXPECT_EQ(failure.uncaught(kRefused).substr(0, 20), "blocked: 10.1.2.4:80");
}

TEST(AdviceOnWhatIsBlocked, WhatNoPolicyCouldAllowIsSaidToo) {
  Blocked failure{"no host", 0};
  EXPECT_EQ(failure.uncaught(kRefused),
            "blocked: no host, which is no host name that a policy could allow.");
}

}  // namespace
}  // namespace belljar::tools
