#include "sandbox/quota.h"

#include "base/error.h"

namespace belljar {

void Quota::Place::release() {
  if (!counts_) return;
  --counts_->total;
  const auto at = counts_->by_owner.find(owner_);
  if (--at->second == 0) counts_->by_owner.erase(at);
  counts_.reset();
}

Quota::Place Quota::take(const std::string& owner) {
  const auto at = counts_->by_owner.find(owner);
  const size_t own = at == counts_->by_owner.end() ? 0 : at->second;
  if (own >= limits_.per_owner) {
    fail(Code::exhausted,
         "you already have {} live sandboxes, which is the limit; stop one that you no longer need "
         "(sandbox_list shows them, sandbox_stop ends one) and try again",
         own);
  }
  if (counts_->total >= limits_.total) {
    fail(Code::exhausted,
         "this server already has {} live sandboxes, which is its limit; stop one that you no "
         "longer "
         "need (sandbox_stop) or try again later",
         counts_->total);
  }
  ++counts_->total;
  ++counts_->by_owner[owner];
  return Place{counts_, owner};
}

}  // namespace belljar
