#pragma once

#include <map>
#include <string>
#include <utility>

#include "base/json.h"

namespace belljar::mcp {

class Server;

// The first pages of the lists of what is registered, as text. Clients ask for them all the time,
// and they change only when something is added.
class ListCache {
 public:
  enum class Era { legacy, modern };

  // The result of that request, or nullptr if it is not for a list that is kept here. Valid until
  // the next call.
  const std::string* find(const Server& server, const std::string& method,
                          const json::object& params, Era era);

  void clear() { texts_.clear(); }

 private:
  std::map<std::pair<std::string, Era>, std::string> texts_;
};

}  // namespace belljar::mcp
