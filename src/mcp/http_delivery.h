#pragma once

#include <string>

#include "mcp/event_stream.h"
#include "net/http_exchange.h"

namespace belljar::mcp {

struct HttpStreamOptions {
  size_t max_queued = 1u << 20;     // bytes of notifications that a stream keeps for its reader
  size_t max_stored = 64u << 20;    // bytes that all streams keep together
  size_t kept = 32;                 // complete streams that a session keeps, for clients to resume
  milliseconds patience{5'000};     // without an answer, before it becomes a stream
  milliseconds keep_alive{15'000};  // between the comments of a stream on which nothing happens
  milliseconds retry{500};          // after which a client comes back to a stream that was paused
};

// In which form what is in a stream goes to the client.
struct Delivery {
  enum class Form {
    json,    // the answer alone: the client takes nothing else
    either,  // the answer alone if it is the first event and comes soon, else a stream
    stream,  // a stream, and at once
  };
  Form form = Form::either;
  net::HttpHeaders headers;  // of the answer, besides those of its form
  bool modern = true;        // no ids, the status says what kind of error it is, nothing is kept
  bool prime = false;        // begin with an event that has an id and no content
  uint64_t after = 0;        // the event after which to begin
  bool as_array = false;     // the answers to a batch
};

enum class Delivered {
  answer,  // everything, as JSON
  stream,  // everything, as a stream
  part,    // the client was asked to hang up, or another one reads now
  none,    // the client has hung up, or everything was over before anything was sent
};

// Sends what is in `stream` and what is added to it, until it is complete or closed or the client
// has hung up.
Task<Delivered> deliver(net::HttpExchange& exchange, EventStream& stream, Delivery delivery,
                        HttpStreamOptions options);

// The status of an answer that is sent alone.
int modern_status(const Outgoing& message);

}  // namespace belljar::mcp
