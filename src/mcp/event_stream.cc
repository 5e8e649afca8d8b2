#include "mcp/event_stream.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace belljar::mcp {

namespace {

// One way to write a number, so that an id is equal to itself only.
bool read_number(std::string_view text, uint64_t& number) {
  if (text.empty() || (text.size() > 1 && text[0] == '0')) return false;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc{} && end == text.data() + text.size();
}

}  // namespace

std::string to_text(EventId id) {
  return fmt::format("{}_{}", id.stream, id.number);
}

std::optional<EventId> parse_event_id(std::string_view text) {
  const size_t middle = text.find('_');
  if (middle == std::string_view::npos) return std::nullopt;
  EventId id;
  const bool read = read_number(text.substr(0, middle), id.stream) &&
                    read_number(text.substr(middle + 1), id.number);
  return read ? std::optional{id} : std::nullopt;
}

bool EventStream::Event::is_answer() const {
  return message.kind == Outgoing::Kind::result || message.kind == Outgoing::Kind::error ||
         message.kind == Outgoing::Kind::refusal;
}

EventStream::EventStream(const asio::any_io_executor& executor, EventBudget& budget,
                         size_t max_bytes, uint64_t id, size_t answers)
    : changed_{executor},
      budget_{budget},
      max_bytes_{max_bytes},
      id_{id},
      answers_{answers},
      endless_{answers == 0} {}

EventStream::~EventStream() {
  budget_.used -= bytes_;
}

void EventStream::drop_first() {
  const size_t size = events_.front().message.text.size();
  bytes_ -= size;
  budget_.used -= size;
  events_.pop_front();
}

bool EventStream::make_room(size_t bytes) {
  const auto fits = [&] {
    return bytes_ + bytes <= max_bytes_ && budget_.used + bytes <= budget_.limit;
  };
  while (!fits() && !events_.empty() &&
         events_.front().message.kind == Outgoing::Kind::notification) {
    drop_first();
  }
  return fits();
}

void EventStream::add(Outgoing message) {
  if (closed_ || complete_) return;
  if (message.kind == Outgoing::Kind::pause) {
    paused_ = true;
    return wake();
  }
  if (message.kind == Outgoing::Kind::no_answer) return expect_one_less();
  const size_t size = message.text.size();
  const bool fits = make_room(size);
  if (!fits && message.kind == Outgoing::Kind::notification) return;
  const bool abandoned = readers_ > 0 && reader_ == 0;
  if (abandoned && budget_.used + size > budget_.limit) return give_up();
  bytes_ += size;
  budget_.used += size;
  events_.push_back(Event{next_++, std::move(message)});
  if (events_.back().is_answer()) {
    expect_one_less();
  } else {
    wake();
  }
}

void EventStream::give_up() {
  while (!events_.empty()) drop_first();
  complete_ = true;
  close();
}

void EventStream::expect_one_less() {
  if (answers_ > 0) --answers_;
  complete_ = !endless_ && answers_ == 0;
  wake();
}

const EventStream::Event* EventStream::after(uint64_t number) const {
  // Numbers grow by one, but for what was dropped in between, which is never from the middle.
  const auto at = std::partition_point(events_.begin(), events_.end(),
                                       [number](const Event& e) { return e.number <= number; });
  return at != events_.end() ? &*at : nullptr;
}

void EventStream::forget_until(uint64_t number) {
  while (!events_.empty() && events_.front().number <= number) drop_first();
}

uint64_t EventStream::attach() {
  reader_ = ++readers_;
  wake();
  return reader_;
}

void EventStream::detach(uint64_t reader) {
  if (reader_ == reader) reader_ = 0;
}

void EventStream::close() {
  closed_ = true;
  wake();
}

Task<> EventStream::wait_until(std::chrono::steady_clock::time_point time) {
  changed_.expires_at(time);
  boost::system::error_code woken;
  co_await changed_.async_wait(asio::redirect_error(asio::use_awaitable, woken));
}

}  // namespace belljar::mcp
