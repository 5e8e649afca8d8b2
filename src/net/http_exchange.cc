#include "net/http_exchange.h"

#include <algorithm>

#include "base/json.h"

namespace belljar::net {

std::string_view HttpServerRequest::header(std::string_view name) const {
  for (const auto& [key, value] : headers)
    if (key == name) return value;
  return "";
}

size_t HttpServerRequest::count(std::string_view name) const {
  return static_cast<size_t>(std::count_if(
      headers.begin(), headers.end(), [name](const auto& header) { return header.first == name; }));
}

std::string_view HttpServerRequest::path() const {
  return std::string_view{target}.substr(0, target.find('?'));
}

HttpAnswer error_answer(int status, std::string_view message) {
  HttpAnswer answer;
  answer.status = status;
  answer.body = json::serialize(json::object{{"error", message}});
  return answer;
}

}  // namespace belljar::net
