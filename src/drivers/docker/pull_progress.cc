#include "drivers/docker/pull_progress.h"

#include <algorithm>

#include "base/bytes.h"
#include "base/error.h"

namespace belljar::docker {
namespace {

constexpr size_t kLongestLine = 64u << 10;
constexpr uint64_t kMost = 1ull << 50;  // what is counted per layer: sums stay far from overflowing

uint64_t count_at(const json::object& object, std::string_view key) {
  const json::value* value = find(object, key);
  const int64_t* number = value != nullptr ? value->if_int64() : nullptr;
  return number != nullptr && *number > 0
             ? std::min<uint64_t>(static_cast<uint64_t>(*number), kMost)
             : 0;
}

std::string_view text_at(const json::object& object, std::string_view key) {
  const json::string* text = find_string(object, key);
  return text != nullptr ? std::string_view{*text} : "";
}

bool says(std::string_view text, std::string_view part) {
  return text.find(part) != text.npos;
}

}  // namespace

PullProgress::PullProgress(PullSubject subject, PullLimits limits)
    : subject_{std::move(subject)}, limits_{limits} {}

void PullProgress::feed(std::string_view bytes) {
  unread_ += bytes;
  size_t start = 0;
  for (size_t end = 0; (end = unread_.find('\n', start)) != std::string::npos; start = end + 1)
    read_line(std::string_view{unread_}.substr(start, end - start));
  unread_.erase(0, start);
  if (unread_.size() > kLongestLine)
    fail(Code::unavailable, "pulling {}: the container engine said too much at once",
         subject_.image);
}

void PullProgress::feed_end() {
  const std::string last = std::exchange(unread_, {});
  read_line(last);
}

void PullProgress::read_line(std::string_view line) {
  if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
  if (line.empty()) return;
  boost::system::error_code bad;
  const json::value value = json::parse({line.data(), line.size()}, bad);
  const json::object* const object = bad ? nullptr : value.if_object();
  if (object == nullptr)
    fail(Code::unavailable, "pulling {}: the container engine said something that is no JSON",
         subject_.image);
  if (const std::string_view error = text_at(*object, "error"); !error.empty())
    refuse_pull(subject_, 200, error);
  const std::string_view id = text_at(*object, "id");
  if (!id.empty()) read_layer(std::string{id}, text_at(*object, "status"), *object);
}

void PullProgress::read_layer(const std::string& id, std::string_view status,
                              const json::object& line) {
  // The line about the tag itself has an id, too.
  if (says(status, "Pulling from")) return;
  Layer& layer = layers_[id];
  if (const json::object* detail = find_object(line, "progressDetail");
      detail != nullptr && status == "Downloading") {
    layer.size = std::max(layer.size, count_at(*detail, "total"));
    layer.received = std::max(layer.received, count_at(*detail, "current"));
  }
  if (status == "Pull complete" || status == "Download complete" || status == "Already exists") {
    layer.is_done = true;
    layer.received = layer.size;
  }
  check_limits();
}

void PullProgress::check_limits() const {
  if (layers_.size() > static_cast<size_t>(limits_.layers))
    fail(Code::exhausted, "the image {} has more than {} layers", subject_.image, limits_.layers);
  uint64_t size = 0;
  for (const auto& [id, layer] : layers_) size += std::max(layer.size, layer.received);
  if (size > limits_.download)
    fail(Code::exhausted, "the image {} is over the limit of {} for a download", subject_.image,
         format_bytes(limits_.download));
}

std::string PullProgress::text() const {
  uint64_t size = 0;
  uint64_t received = 0;
  size_t done = 0;
  for (const auto& [id, layer] : layers_) {
    size += layer.size;
    received += layer.received;
    if (layer.is_done) ++done;
  }
  if (layers_.empty()) return "pulling " + subject_.image;
  std::string text =
      fmt::format("pulling {}: {} of {} layers", subject_.image, done, layers_.size());
  if (size > 0) text += fmt::format(", {} of {}", format_bytes(received), format_bytes(size));
  return text;
}

}  // namespace belljar::docker
