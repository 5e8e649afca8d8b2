#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <string>

namespace belljar {

struct QuotaLimits {
  size_t total = 512;
  size_t per_owner = 512;
};

// Counts sandboxes, from the wish to create one until it is gone, so that a burst of calls cannot
// pass the limit while the first ones are still being made.
class Quota {
 public:
  // The right to have one sandbox; given back by release() or by destruction. May outlive the
  // Quota.
  class Place {
   public:
    Place() = default;
    ~Place() { release(); }
    Place(Place&&) = default;
    Place& operator=(Place&&) = delete;
    void release();

   private:
    friend class Quota;
    struct Counts {
      size_t total = 0;
      std::map<std::string, size_t> by_owner;
    };
    Place(std::shared_ptr<Counts> counts, std::string owner)
        : counts_{std::move(counts)}, owner_{std::move(owner)} {}

    std::shared_ptr<Counts> counts_;  // empty: nothing to give back
    std::string owner_;
  };

  explicit Quota(QuotaLimits limits) : limits_{limits} {}

  // Error{exhausted}, which names the limit and what to do, if there is no place left.
  Place take(const std::string& owner);

  size_t used() const { return counts_->total; }

 private:
  QuotaLimits limits_;
  std::shared_ptr<Place::Counts> counts_ = std::make_shared<Place::Counts>();
};

}  // namespace belljar
