#include "tools/advice_testing.h"

namespace belljar::tools {
namespace {

TEST(AdviceOnNetwork, KnowsThatFetchHasNoNetwork) {
  Failure failure{R"(await fetch('https://example.com/');)"};
  const char* const advice =
      "This sandbox has no network. npm packages come by \"dependencies\"; other data must be part "
      "of the program or be given as \"stdin\" or as files.";
  EXPECT_EQ(failure.uncaught(R"(TypeError: fetch failed
    at async file:///workspace/index.js:1:1 {
  [cause]: Error: getaddrinfo EAI_AGAIN example.com
      at GetAddrInfoReqWrap.onlookupall [as oncomplete] (node:dns:122:26) {
    errno: -3001,
    code: 'EAI_AGAIN',
    syscall: 'getaddrinfo',
    hostname: 'example.com'
  }
})"),
            advice);  // Node.js 20, 22
  EXPECT_EQ(failure.uncaught(R"([TypeError: fetch failed] {
  [cause]: Error: getaddrinfo EAI_AGAIN example.com
      at GetAddrInfoReqWrap.onlookupall [as oncomplete] (node:dns:122:26) {
    errno: -3001,
    code: 'EAI_AGAIN',
    syscall: 'getaddrinfo',
    hostname: 'example.com'
  }
})"),
            advice);  // Node.js 24, 26
}

TEST(AdviceOnNetwork, KnowsThatAContainerHasOnlyAProxy) {
  Failure failure{R"(import net from 'node:net';
net.connect(80, '93.184.216.34');)"};
  failure.run.network = Network::gated;
  const std::string error = R"(Error: connect ENETUNREACH 93.184.216.34:80 - Local (0.0.0.0:0)
    at process.processTicksAndRejections (node:internal/process/task_queues:90:21) {
  code: 'ENETUNREACH',
  syscall: 'connect',
  address: '93.184.216.34',
  port: 80
})";
  EXPECT_EQ(failure.uncaught(error).find("proxy"), std::string::npos);
  failure.run.by_proxy = true;
  EXPECT_EQ(failure.uncaught(error),
            "Programs in this container reach the network by its proxy only, which HTTPS_PROXY "
            "names: fetch, node:http and node:https use it from Node.js 22.21 and 24.5 on, and so "
            "do most tools. Other connections, UDP and DNS lead nowhere.");
}

TEST(AdviceOnNetwork, KnowsThatNamesAreNotResolved) {
  Failure failure{R"(import https from 'node:https';
https.get('https://example.com/');)"};
  const char* const advice =
      "This sandbox has no network. npm packages come by \"dependencies\"; other data must be part "
      "of the program or be given as \"stdin\" or as files.";
  EXPECT_EQ(failure.uncaught(R"(Error: getaddrinfo EAI_AGAIN example.com
    at process.processTicksAndRejections (node:internal/process/task_queues:90:21) {
  code: 'EAI_AGAIN',
  syscall: 'getaddrinfo',
  hostname: 'example.com'
})"),
            advice);  // Node.js 20, 22, 24, 26
}

TEST(AdviceOnNetwork, KnowsThatAddressesAreNotReached) {
  Failure failure{R"(import net from 'node:net';
net.connect(80, '93.184.216.34');)"};
  const char* const advice =
      "This sandbox has no network. npm packages come by \"dependencies\"; other data must be part "
      "of the program or be given as \"stdin\" or as files.";
  EXPECT_EQ(failure.uncaught(R"(Error: connect ENETUNREACH 93.184.216.34:80 - Local (0.0.0.0:0)
    at process.processTicksAndRejections (node:internal/process/task_queues:90:21) {
  code: 'ENETUNREACH',
  syscall: 'connect',
  address: '93.184.216.34',
  port: 80
})"),
            advice);  // Node.js 20, 22, 24, 26
}

TEST(AdviceOnNetwork, KnowsThatThereIsNoNameServer) {
  Failure failure{R"(import dns from 'node:dns/promises';
await dns.resolve4('example.com');)"};
  const char* const advice =
      "This sandbox has no network. npm packages come by \"dependencies\"; other data must be part "
      "of the program or be given as \"stdin\" or as files.";
  EXPECT_EQ(failure.uncaught(R"(Error: queryA ECONNREFUSED example.com
    at QueryReqWrap.onresolve [as oncomplete] (node:internal/dns/promises:298:17) {
  code: 'ECONNREFUSED',
  syscall: 'queryA',
  hostname: 'example.com'
})"),
            advice);  // Node.js 20, 22, 24, 26
}

TEST(AdviceOnNetwork, KnowsAnErrorThatTheProgramPrintedItself) {
  Failure failure{R"(async function main() { await fetch("https://example.com"); }
main().catch((e) => { console.error("Failed:", e.message); process.exit(1); });)"};
  const char* const advice =
      "This sandbox has no network. npm packages come by \"dependencies\"; other data must be part "
      "of the program or be given as \"stdin\" or as files.";
  EXPECT_EQ(failure.advice(R"(Failed: fetch failed
)"),
            advice);  // Node.js 20, 22, 24, 26
}

TEST(AdviceOnNetwork, KnowsThatNothingListens) {
  Failure failure{R"(import net from 'node:net';
net.connect(5432, '127.0.0.1');)"};
  const char* const advice =
      "Nothing listens on that port inside the sandbox. There are no databases or other services: "
      "start the server in the same program, or earlier in the same session with \"listenOnPort\".";
  EXPECT_EQ(failure.uncaught(R"(Error: connect ECONNREFUSED 127.0.0.1:5432
    at process.processTicksAndRejections (node:internal/process/task_queues:90:21) {
  code: 'ECONNREFUSED',
  syscall: 'connect',
  address: '127.0.0.1',
  port: 5432
})"),
            advice);  // Node.js 20, 22, 24, 26
}

TEST(AdviceOnNetwork, KnowsThatNothingListensForFetchEither) {
  Failure failure{R"(await fetch('http://localhost:3000/');)"};
  const char* const advice =
      "Nothing listens on that port inside the sandbox. There are no databases or other services: "
      "start the server in the same program, or earlier in the same session with \"listenOnPort\".";
  EXPECT_EQ(failure.uncaught(R"(TypeError: fetch failed
    at async file:///workspace/index.js:1:1 {
  [cause]: AggregateError [ECONNREFUSED]:
      at internalConnectMultiple (node:net:1135:18)
      at afterConnectMultiple (node:net:1716:7) {
    code: 'ECONNREFUSED',
    [errors]: [
      Error: connect ECONNREFUSED ::1:3000
          at createConnectionError (node:net:1679:14)
          at afterConnectMultiple (node:net:1709:16) {
        errno: -111,
        code: 'ECONNREFUSED',
        syscall: 'connect',
        address: '::1',
        port: 3000
      },
      Error: connect ECONNREFUSED 127.0.0.1:3000
          at createConnectionError (node:net:1679:14)
          at afterConnectMultiple (node:net:1709:16) {
        errno: -111,
        code: 'ECONNREFUSED',
        syscall: 'connect',
        address: '127.0.0.1',
        port: 3000
      }
    ]
  }
})"),
            advice);  // Node.js 20, 22
  EXPECT_EQ(failure.uncaught(R"([TypeError: fetch failed] {
  [cause]: AggregateError [ECONNREFUSED]:
      at internalConnectMultiple (node:net:1492:18)
      at afterConnectMultiple (node:net:2161:7) {
    code: 'ECONNREFUSED',
    [errors]: [
      Error: connect ECONNREFUSED ::1:3000
          at createConnectionError (node:net:2124:14)
          at afterConnectMultiple (node:net:2154:16) {
        errno: -111,
        code: 'ECONNREFUSED',
        syscall: 'connect',
        address: '::1',
        port: 3000
      },
      Error: connect ECONNREFUSED 127.0.0.1:3000
          at createConnectionError (node:net:2124:14)
          at afterConnectMultiple (node:net:2154:16) {
        errno: -111,
        code: 'ECONNREFUSED',
        syscall: 'connect',
        address: '127.0.0.1',
        port: 3000
      }
    ]
  }
})"),
            advice);  // Node.js 24, 26
}

TEST(AdviceOnNetwork, KnowsAPortThatIsTaken) {
  Failure failure{R"(import http from 'node:http';
http.createServer().listen(3000);http.createServer().listen(3000);)"};
  const char* const advice =
      "That port is taken inside this sandbox, by this program or one that still runs: listen on "
      "another port, or on port 0 for any that is free.";
  EXPECT_EQ(failure.uncaught(R"(Error: listen EADDRINUSE: address already in use :::3000
    at process.processTicksAndRejections (node:internal/process/task_queues:90:21) {
  code: 'EADDRINUSE',
  syscall: 'listen',
  address: '::',
  port: 3000
})"),
            advice);  // Node.js 20, 22, 24, 26
}

TEST(AdviceOnNetwork, KnowsPrivilegedPorts) {
  Failure failure{R"(import http from 'node:http';
http.createServer().listen(80);)"};
  const char* const advice =
      "Ports below 1024 are not for programs here: listen on a higher one, such as 8080.";
  EXPECT_EQ(failure.uncaught(R"(Error: listen EACCES: permission denied 0.0.0.0:80
    at process.processTicksAndRejections (node:internal/process/task_queues:90:21) {
  code: 'EACCES',
  syscall: 'listen',
  address: '0.0.0.0',
  port: 80
})"),
            advice);  // Node.js 20, 22, 24, 26
}

}  // namespace
}  // namespace belljar::tools
