#include "packages/json_scan.h"

namespace belljar::packages {

ObjectScan::ObjectScan(std::string_view text) : text_{text} {
  skip_space();
  if (at_ < text_.size() && text_[at_] == '{')
    ++at_;
  else
    failed_ = ended_ = true;
}

std::optional<ObjectScan::Member> ObjectScan::fail() {
  failed_ = ended_ = true;
  return std::nullopt;
}

void ObjectScan::skip_space() {
  while (at_ < text_.size() &&
         (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\t' || text_[at_] == '\r'))
    ++at_;
}

bool ObjectScan::skip_string() {
  ++at_;
  while (true) {
    at_ = text_.find_first_of("\"\\", at_);
    if (at_ == text_.npos) return at_ = text_.size(), false;
    if (text_[at_++] == '"') return true;
    ++at_;  // what is escaped; find_first_of() accepts a place behind the end
  }
}

bool ObjectScan::skip_value() {
  size_t depth = 0;
  while (at_ < text_.size()) {
    const char c = text_[at_];
    if (c == '"') {
      if (!skip_string()) return false;
      if (depth == 0) return true;
      continue;
    }
    if (c == '{' || c == '[') ++depth;
    if (c == '}' || c == ']') {
      if (depth == 0) return true;  // behind a number or a word at the end of the object
      ++at_;
      if (--depth == 0) return true;
      continue;
    }
    if (c == ',' && depth == 0) return true;
    ++at_;
  }
  return false;
}

std::optional<ObjectScan::Member> ObjectScan::next() {
  if (ended_) return std::nullopt;
  skip_space();
  if (at_ >= text_.size()) return fail();
  if (text_[at_] == '}') {
    ended_ = true;
    return std::nullopt;
  }
  if (!first_) {
    if (text_[at_] != ',') return fail();
    ++at_;
    skip_space();
  }
  first_ = false;
  if (at_ >= text_.size() || text_[at_] != '"') return fail();
  const size_t key = at_ + 1;
  if (!skip_string()) return fail();
  const size_t key_end = at_ - 1;
  skip_space();
  if (at_ >= text_.size() || text_[at_] != ':') return fail();
  ++at_;
  skip_space();
  const size_t value = at_;
  if (!skip_value() || at_ == value) return fail();
  return Member{text_.substr(key, key_end - key), text_.substr(value, at_ - value)};
}

}  // namespace belljar::packages
