#include "files/tracked_files.h"

#include <boost/asio/strand.hpp>

namespace belljar::files {

namespace {

constexpr size_t kSmall = 300;  // entries

}  // namespace

struct TrackedFiles::State {
  State(Directory where, std::string name_of_it)
      : parent{Directory{where.handle()}},
        name{std::move(name_of_it)},
        tracker{std::move(where), name},
        one_at_a_time{asio::make_strand(blocking_pool())} {}

  bool is_small() const {
    const Fd root{open_beneath(parent.handle(), name.c_str(), kFolder)};
    return !root || !has_more_entries_than(root.get(), kSmall);
  }

  Directory parent;
  std::string name;
  ChangeTracker tracker;
  asio::strand<asio::thread_pool::executor_type> one_at_a_time;
  int on_the_pool = 0;  // functions that have not ended; counted by the loop
};

TrackedFiles::TrackedFiles(Directory parent, std::string name)
    : state_{std::make_shared<State>(std::move(parent), std::move(name))} {}

TrackedFiles::TrackedFiles(Directory root) : TrackedFiles{std::move(root), "."} {}

template <class Result, class Function>
Task<Result> TrackedFiles::look(Function function) {
  const auto state = state_;
  if (state->on_the_pool == 0 && state->is_small()) co_return function(state->tracker);
  struct Counted {
    int& count;
    explicit Counted(int& counter) : count{counter} { ++count; }
    ~Counted() { --count; }
  };
  const Counted counted{state->on_the_pool};
  auto on_pool = [state, function] { return function(state->tracker); };
  co_return co_await run_blocking_on(state->one_at_a_time, std::move(on_pool));
}

Task<ChangeTracker::Mark> TrackedFiles::mark() {
  const auto set_mark = [](ChangeTracker& tracker) {
    return std::pair{tracker.mark(), tracker.settle_time()};
  };
  using Marked = std::pair<ChangeTracker::Mark, milliseconds>;
  Marked marked = co_await look<Marked>(set_mark);
  if (marked.second > milliseconds{0}) co_await sleep_for(marked.second);
  co_return std::move(marked.first);
}

Task<Changes> TrackedFiles::changes(ChangeTracker::Mark mark) {
  const auto compare = [mark = std::move(mark)](ChangeTracker& tracker) {
    return tracker.changes(mark);
  };
  return look<Changes>(compare);
}

}  // namespace belljar::files
