#include "sandbox/log_buffer.h"

#include <algorithm>

#include "base/utf8.h"

namespace belljar {

void LogBuffer::write(std::string_view bytes) {
  bytes_.append(bytes);
  // Throwing away in large steps keeps the cost per byte constant.
  if (bytes_.size() <= limit_ * 2) return;
  const size_t surplus = bytes_.size() - limit_;
  bytes_.erase(0, surplus);
  begin_ += surplus;
}

LogBuffer::Part LogBuffer::read(uint64_t cursor, size_t max, bool final) const {
  Part part;
  const uint64_t from = std::clamp(cursor, begin_, end());
  part.dropped = from > cursor ? from - cursor : 0;
  std::string_view bytes = bytes_;
  bytes.remove_prefix(static_cast<size_t>(from - begin_));
  part.more = bytes.size() > max;
  if (part.more) bytes = bytes.substr(0, max);
  // Only if something remains: a reader must get ahead even where nothing is a character.
  const size_t complete = utf8_complete(bytes);
  if ((part.more || !final) && complete > 0) bytes = bytes.substr(0, complete);
  if (!final && !part.more && complete == 0) bytes = {};
  part.text = to_utf8(bytes);
  part.cursor = from + bytes.size();
  return part;
}

}  // namespace belljar
