#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>

#include "base/task.h"
#include "mcp/message.h"

namespace belljar::mcp {

// How many bytes all the streams of an endpoint may keep together, and how many they do.
struct EventBudget {
  size_t limit = 64u << 20;
  size_t used = 0;
  bool is_spent() const { return used > limit; }
};

// The id of an event: which stream, and the how many-th of it. 0 is its beginning.
struct EventId {
  uint64_t stream = 0;
  uint64_t number = 0;
};
std::string to_text(EventId id);

// Nothing if no event of ours can have that id.
std::optional<EventId> parse_event_id(std::string_view text);

// What is on its way to one HTTP client, in order: the notifications and the answers of a request,
// or announcements. Senders add, one reader at a time takes; what was taken may be kept for
// a reader who has lost it. Never holds more than a limit: notifications that do not fit go, the
// oldest first. Answers do not, unless their reader has gone and the budget is spent: that closes
// it.
class EventStream {
 public:
  struct Event {
    uint64_t number = 0;
    Outgoing message;
    bool is_answer() const;
  };

  // Complete after so many answers; with 0, never. `budget` must outlive it.
  EventStream(const asio::any_io_executor& executor, EventBudget& budget, size_t max_bytes,
              uint64_t id, size_t answers);
  ~EventStream();
  EventStream(const EventStream&) = delete;
  EventStream& operator=(const EventStream&) = delete;

  uint64_t id() const { return id_; }

  // Hints count, too: a pause makes is_paused(), and an answer that will not come is not waited
  // for.
  void add(Outgoing message);

  // The first event after that one that is still there, or nullptr. Valid until the next add().
  const Event* after(uint64_t number) const;
  void forget_until(uint64_t number);

  uint64_t last() const { return next_ - 1; }  // the number of the newest event
  uint64_t taken() const { return taken_; }    // the number of the newest that a reader has taken
  void set_taken(uint64_t number) { taken_ = std::max(taken_, number); }
  bool is_complete() const { return complete_; }

  // Takes the stream from whoever reads it now; is_mine() is how that one learns it.
  uint64_t attach();
  void detach(uint64_t reader);
  bool is_mine(uint64_t reader) const { return reader_ == reader; }
  bool is_attached() const { return reader_ != 0; }

  // The reader shall hang up, and may come back; or there is nothing to come back to.
  void close();
  bool is_paused() const { return paused_; }
  void end_pause() { paused_ = false; }
  bool is_closed() const { return closed_; }

  // Ends at that time, or when something has changed.
  Task<> wait_until(std::chrono::steady_clock::time_point time);
  void wake() { changed_.cancel(); }

 private:
  bool make_room(size_t bytes);
  void expect_one_less();
  void give_up();
  void drop_first();

  asio::steady_timer changed_;
  EventBudget& budget_;
  size_t max_bytes_;
  uint64_t id_;
  size_t answers_;  // still to come
  bool endless_;
  std::deque<Event> events_;
  size_t bytes_ = 0;
  uint64_t next_ = 1;
  uint64_t taken_ = 0;
  uint64_t reader_ = 0;  // 0: none
  uint64_t readers_ = 0;
  bool complete_ = false;
  bool paused_ = false;
  bool closed_ = false;
};

}  // namespace belljar::mcp
