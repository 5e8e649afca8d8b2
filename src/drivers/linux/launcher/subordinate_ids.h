#pragma once

#include <sys/types.h>

#include "base/fd.h"

namespace belljar::launcher {

// The range of ids that /etc/subuid and /etc/subgid lend to a user. Only newuidmap and newgidmap,
// which are set-user-ID root, can put it into a map.
struct SubordinateIds {
  unsigned first_uid = 0;
  unsigned first_gid = 0;
  unsigned count = 0;  // 0: none, or the two programs are not there
};
SubordinateIds find_subordinate_ids(uid_t user);

// A child that stays in the host's user namespace and maps, for the process that started it, 0 to
// the user and 1 and up to the subordinate ids.
class IdMapper {
 public:
  IdMapper() = default;
  IdMapper(pid_t child, Fd start) : child_{child}, start_{std::move(start)} {}

  // To be called from inside the new namespace: lets the child do it and waits. False if it did
  // not, in which case nothing is mapped.
  bool finish();

 private:
  pid_t child_ = -1;
  Fd start_;
};
IdMapper start_id_mapper(const SubordinateIds& ids, uid_t uid, gid_t gid);

// What every user may do: maps 0 to the user, and nothing else. 0 or an errno.
int map_own_id_only(uid_t uid, gid_t gid);

}  // namespace belljar::launcher
