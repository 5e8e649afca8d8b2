#include "network/dns_message.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "network/host_name.h"

namespace belljar::network {

namespace {

using boost::asio::ip::address;
using boost::asio::ip::address_v4;
using boost::asio::ip::address_v6;

constexpr size_t kHeader = 12;
constexpr size_t kLongestName = 255;  // on the wire
constexpr int kMostJumps = 32;
constexpr size_t kMostAliases = 16;
// More than that needs fragments, which many networks drop.
constexpr size_t kLargestUdp = 4096;
constexpr size_t kSmallestUdp = 512;

constexpr unsigned kIsAnswer = 0x8000;
constexpr unsigned kOperation = 0x7800;
constexpr unsigned kTruncated = 0x0200;
constexpr unsigned kRecursionDesired = 0x0100;
constexpr unsigned kRecursionAvailable = 0x0080;
constexpr unsigned kCheckingDisabled = 0x0010;
constexpr unsigned kCode = 0x000f;
constexpr uint32_t kDnssecOk = 0x8000;  // in the field that is the ttl of other records

void put16(std::string& out, unsigned value) {
  out += static_cast<char>(value >> 8 & 0xff);
  out += static_cast<char>(value & 0xff);
}

void put32(std::string& out, uint32_t value) {
  put16(out, value >> 16);
  put16(out, value & 0xffff);
}

// Reads from the front of a message. After the first thing that is not there everything reads as
// zero and ok() is false for good, so it is enough to look once at the end.
class Reader {
 public:
  explicit Reader(std::string_view message) : message_{message} {}

  bool ok() const { return ok_; }
  bool at_end() const { return position_ == message_.size(); }
  size_t position() const { return position_; }
  void fail() { ok_ = false; }

  unsigned u8() { return u8_at(position_); }
  unsigned u16() {
    const unsigned high = u8();
    return high << 8 | u8();
  }
  uint32_t u32() {
    const uint32_t high = u16();
    return high << 16 | u16();
  }
  std::string_view bytes(size_t size) {
    if (!ok_ || size > message_.size() - position_) {
      fail();
      return {};
    }
    const std::string_view result = message_.substr(position_, size);
    position_ += size;
    return result;
  }

  enum class Pointers { followed, refused };

  // A name as text, in lower case. Bytes that would make it read like another name, and what cannot
  // be printed, are written as \DDD, so that equal texts are equal names.
  std::string name(Pointers pointers);

 private:
  unsigned u8_at(size_t& position) {
    if (!ok_ || position >= message_.size()) {
      fail();
      return 0;
    }
    return static_cast<unsigned char>(message_[position++]);
  }

  std::string_view message_;
  size_t position_ = 0;
  bool ok_ = true;
};

void append_label(std::string& text, std::string_view label) {
  if (!text.empty()) text += '.';
  for (const char c : label) {
    if (c <= ' ' || c > '~' || c == '.' || c == '\\') {
      text += fmt::format("\\{:03}", static_cast<unsigned char>(c));
    } else {
      text += c;
    }
  }
}

std::string Reader::name(Pointers pointers) {
  std::string text;
  size_t size = 1;  // the end
  size_t at = position_;
  size_t lowest = position_;  // a pointer leads to before all that was read of this name
  int jumps = 0;
  for (;;) {
    const unsigned length = u8_at(at);
    if (length >= 0xc0) {
      const size_t target = (length & 0x3f) << 8 | u8_at(at);
      if (jumps == 0) position_ = at;
      if (pointers == Pointers::refused || target >= lowest || ++jumps > kMostJumps) fail();
      at = lowest = target;
    } else if (length > 63) {
      fail();  // 01 and 10 in front have no meaning
    } else if (length > 0) {
      size += length + 1;
      if (size > kLongestName || at + length > message_.size()) fail();
      if (ok_) append_label(text, message_.substr(at, length));
      at += length;
    } else {
      if (jumps == 0) position_ = at;
      return ok_ ? lower_ascii(text) : "";
    }
    if (!ok_) return "";
  }
}

struct Header {
  uint16_t id;
  unsigned flags;
  unsigned questions;
  unsigned answers;
  unsigned authorities;
  unsigned extras;  // the additional section
};

Header read_header(Reader& reader) {
  Header header{};
  header.id = static_cast<uint16_t>(reader.u16());
  header.flags = reader.u16();
  header.questions = reader.u16();
  header.answers = reader.u16();
  header.authorities = reader.u16();
  header.extras = reader.u16();
  return header;
}

struct Question {
  std::string name;
  uint16_t type;
  uint16_t klass;
};

Question read_question(Reader& reader) {
  Question question{};
  question.name = reader.name(Reader::Pointers::refused);
  question.type = static_cast<uint16_t>(reader.u16());
  question.klass = static_cast<uint16_t>(reader.u16());
  return question;
}

struct Record {
  std::string owner;
  unsigned type;
  unsigned klass;
  uint32_t ttl;
  std::string_view data;
  std::string target;  // of an alias
};

Record read_record(Reader& reader) {
  Record record{};
  record.owner = reader.name(Reader::Pointers::followed);
  record.type = reader.u16();
  record.klass = reader.u16();
  record.ttl = reader.u32();
  const size_t size = reader.u16();
  if (record.type == DnsQuery::cname) {
    const size_t start = reader.position();
    record.target = reader.name(Reader::Pointers::followed);
    if (reader.position() - start != size) reader.fail();
  } else {
    record.data = reader.bytes(size);
  }
  return record;
}

template <class Address>
std::optional<address> read_address(std::string_view data) {
  typename Address::bytes_type bytes;
  if (data.size() != bytes.size()) return std::nullopt;
  std::copy(data.begin(), data.end(), bytes.begin());
  return Address{bytes};
}

// The records of an answer that matter here, by their owner.
class Records {
 public:
  // False if the record is not what its type demands.
  bool add(const Record& record) {
    if (record.klass != DnsQuery::internet) return true;
    const uint32_t ttl = record.ttl > 0x7fffffff ? 0 : record.ttl;  // RFC 2181, 8
    if (record.type == DnsQuery::cname) {
      aliases_.emplace(record.owner, std::pair{record.target, ttl});
      return true;
    }
    if (record.type != DnsQuery::a && record.type != DnsQuery::aaaa) return true;
    const auto parsed = record.type == DnsQuery::a ? read_address<address_v4>(record.data)
                                                   : read_address<address_v6>(record.data);
    if (parsed) addresses_.emplace(record.owner, std::pair{*parsed, ttl});
    return parsed.has_value();
  }

  // What `name` leads to. Records that are not on the way belong to other names.
  std::vector<std::pair<address, uint32_t>> addresses_of(std::string name) const {
    std::vector<std::pair<address, uint32_t>> found;
    uint32_t least = 0x7fffffff;
    for (size_t aliases = 0; aliases <= kMostAliases; ++aliases) {
      const auto [from, to] = addresses_.equal_range(name);
      for (auto at = from; at != to; ++at)
        found.emplace_back(at->second.first, std::min(least, at->second.second));
      const auto alias = aliases_.find(name);
      if (!found.empty() || alias == aliases_.end()) break;
      least = std::min(least, alias->second.second);
      name = alias->second.first;
    }
    return found;
  }

 private:
  std::map<std::string, std::pair<std::string, uint32_t>> aliases_;
  std::multimap<std::string, std::pair<address, uint32_t>> addresses_;
};

void read_edns(Reader& reader, DnsQuery& query) {
  const Record record = read_record(reader);
  if (record.type != DnsQuery::opt || !record.owner.empty()) reader.fail();
  query.has_edns = true;
  query.udp_limit = std::clamp<size_t>(record.klass, kSmallestUdp, kLargestUdp);
  query.dnssec_ok = (record.ttl & kDnssecOk) != 0;
}

std::string_view question_of(std::string_view message, const DnsQuery& query) {
  return message.substr(kHeader, query.question_end - kHeader);
}

std::string make_answer(std::string_view message, const DnsQuery& query, unsigned flags,
                        unsigned records) {
  std::string out;
  put16(out, query.id);
  put16(out, kIsAnswer | kRecursionAvailable | flags |
                 (query.recursion_desired ? kRecursionDesired : 0));
  for (const unsigned count : {1u, records, 0u, 0u}) put16(out, count);
  out += question_of(message, query);
  return out;
}

}  // namespace

std::optional<DnsQuery> parse_query(std::string_view message) {
  if (message.size() > kMaxDnsMessage) return std::nullopt;
  Reader reader{message};
  const Header header = read_header(reader);
  if ((header.flags & (kIsAnswer | kOperation | kTruncated)) != 0) return std::nullopt;
  if (header.questions != 1 || header.answers != 0 || header.authorities != 0) return std::nullopt;
  Question question = read_question(reader);
  if (question.name.find('\\') != std::string::npos) return std::nullopt;
  DnsQuery query;
  query.id = header.id;
  query.name = std::move(question.name);
  query.type = question.type;
  query.klass = question.klass;
  query.question_end = reader.position();
  query.recursion_desired = (header.flags & kRecursionDesired) != 0;
  query.checking_disabled = (header.flags & kCheckingDisabled) != 0;
  if (header.extras > 1) return std::nullopt;
  if (header.extras == 1) read_edns(reader, query);
  if (!reader.ok() || !reader.at_end()) return std::nullopt;
  return query;
}

std::optional<DnsAnswer> parse_answer(std::string_view message, const DnsQuery& query) {
  if (message.size() > kMaxDnsMessage) return std::nullopt;
  Reader reader{message};
  const Header header = read_header(reader);
  if ((header.flags & (kIsAnswer | kOperation)) != kIsAnswer) return std::nullopt;
  if (header.id != query.id || header.questions != 1) return std::nullopt;
  const Question question = read_question(reader);
  if (question.name != query.name || question.type != query.type || question.klass != query.klass)
    return std::nullopt;
  Records records;
  for (unsigned i = 0; i < header.answers && reader.ok(); ++i) {
    const Record record = read_record(reader);
    if (reader.ok() && !records.add(record)) reader.fail();
  }
  for (unsigned i = 0; i < header.authorities + header.extras && reader.ok(); ++i)
    read_record(reader);
  if (!reader.ok() || !reader.at_end()) return std::nullopt;
  DnsAnswer answer;
  answer.addresses = records.addresses_of(query.name);
  answer.truncated = (header.flags & kTruncated) != 0;
  answer.code = static_cast<int>(header.flags & kCode);
  return answer;
}

std::string make_question(std::string_view name, uint16_t type) {
  std::string out;
  put16(out, 0);  // whoever asks a server gives it an id
  put16(out, kRecursionDesired);
  for (const unsigned count : {1u, 0u, 0u, 0u}) put16(out, count);
  while (!name.empty()) {
    const std::string_view label = name.substr(0, name.find('.'));
    out += static_cast<char>(label.size());
    out += label;
    name.remove_prefix(std::min(label.size() + 1, name.size()));
  }
  out += '\0';
  put16(out, type);
  put16(out, DnsQuery::internet);
  return out;
}

std::string make_query(std::string_view message, const DnsQuery& query, uint16_t id) {
  std::string out;
  put16(out, id);
  put16(out, (query.recursion_desired ? kRecursionDesired : 0) |
                 (query.checking_disabled ? kCheckingDisabled : 0));
  for (const unsigned count : {1u, 0u, 0u, query.has_edns ? 1u : 0u}) put16(out, count);
  out += question_of(message, query);
  if (query.has_edns) {
    out += '\0';  // the root owns it
    put16(out, DnsQuery::opt);
    put16(out, static_cast<unsigned>(query.udp_limit));
    put32(out, query.dnssec_ok ? kDnssecOk : 0);
    put16(out, 0);
  }
  return out;
}

std::string make_error_answer(std::string_view message, const DnsQuery& query, DnsCode code) {
  return make_answer(message, query, static_cast<unsigned>(code) & kCode, 0);
}

std::string make_truncated_answer(std::string_view message, const DnsQuery& query) {
  return make_answer(message, query, kTruncated, 0);
}

std::string make_address_answer(std::string_view message, const DnsQuery& query,
                                const address& address, uint32_t ttl) {
  const unsigned type = address.is_v4() ? DnsQuery::a : DnsQuery::aaaa;
  if (query.type != type) return make_error_answer(message, query, no_error);
  std::string out = make_answer(message, query, 0, 1);
  put16(out, 0xc000 | kHeader);  // the name in the question
  put16(out, type);
  put16(out, DnsQuery::internet);
  put32(out, ttl);
  const auto append = [&out](const auto& bytes) {
    put16(out, static_cast<unsigned>(bytes.size()));
    out.append(bytes.begin(), bytes.end());
  };
  if (address.is_v4()) {
    append(address.to_v4().to_bytes());
  } else {
    append(address.to_v6().to_bytes());
  }
  return out;
}

void set_id(std::string& message, uint16_t id) {
  std::string bytes;
  put16(bytes, id);
  message.replace(0, bytes.size(), bytes);
}

}  // namespace belljar::network
