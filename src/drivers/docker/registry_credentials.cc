#include "drivers/docker/registry_credentials.h"

#include <algorithm>

#include "base/bytes.h"
#include "base/error.h"
#include "base/posix.h"
#include "base/utf8.h"
#include "drivers/docker/engine_answers.h"

namespace belljar::docker {
namespace {

constexpr size_t kLargestFile = 1u << 20;

// What clients call the default registry in their files, and to engines.
constexpr std::string_view kDefaultServer = "https://index.docker.io/v1/";

json::object parse_configuration(std::string_view text, const std::string& file) {
  boost::system::error_code bad;
  json::value value = json::parse({text.data(), text.size()}, bad);
  if (bad) fail(Code::invalid, "{} is no JSON: {}", file, bad.message());
  if (!value.is_object()) fail(Code::invalid, "{} is no JSON object", file);
  return std::move(value.get_object());
}

// The member that must be an object if it is there.
const json::object* section(const json::object& configuration, std::string_view name,
                            const std::string& file) {
  const json::value* value = find(configuration, name);
  if (value == nullptr || value->is_null()) return nullptr;
  if (!value->is_object()) fail(Code::invalid, "{}: \"{}\" must be an object", file, name);
  return &value->get_object();
}

std::string_view without_scheme(std::string_view key) {
  for (const std::string_view scheme : {"https://", "http://"})
    if (key.starts_with(scheme)) return key.substr(scheme.size());
  return key;
}

// "ghcr.io" for the address "https://ghcr.io/v2/", the path of which is that of the API. Podman
// writes "ghcr.io/acme" for a login that is only for images beneath it.
std::string name_of(std::string_view key) {
  std::string_view rest = without_scheme(key);
  const bool is_address = rest.size() != key.size();
  const std::string host = canonical_registry(rest.substr(0, rest.find('/')));
  rest.remove_prefix(std::min(rest.find('/'), rest.size()));
  while (rest.ends_with('/')) rest.remove_suffix(1);
  return is_address ? host : host + std::string{rest};
}

bool is_plain(std::string_view text) {
  return is_utf8(text) && std::all_of(text.begin(), text.end(), [](char c) {
           return static_cast<unsigned char>(c) >= 0x20 && c != 0x7f;
         });
}

// One entry of `auths`, for errors by its key.
class EntryReader {
 public:
  EntryReader(std::string_view key, const std::string& file)
      : key_{one_line(key, 100)}, file_{file} {
    login_.registry = name_of(key);
    login_.registry = login_.registry.substr(0, login_.registry.find('/'));
  }

  // Without user and token if the entry says nothing, as those of a credential helper do.
  RegistryLogin read(const json::value& value) {
    const json::object* entry = value.if_object();
    if (entry == nullptr) wrong("must be an object");
    login_.identity_token = text_at(*entry, "identitytoken");
    if (const std::string auth = text_at(*entry, "auth"); !auth.empty()) read_auth(auth);
    if (!login_.identity_token.empty()) login_.password.clear();
    return std::move(login_);
  }

 private:
  [[noreturn]] void wrong(std::string_view what) const {
    fail(Code::invalid, "{}: the entry \"{}\" of \"auths\" {}: log in again (docker login {})",
         file_, key_, what, one_line(login_.registry, 100));
  }

  std::string text_at(const json::object& entry, std::string_view name) const {
    const json::value* value = find(entry, name);
    if (value == nullptr || value->is_null()) return "";
    const json::string* text = value->if_string();
    if (text == nullptr || !is_plain(*text))
      wrong(fmt::format("has no plain text in \"{}\"", name));
    return std::string{*text};
  }

  void read_auth(const std::string& auth) {
    const auto decoded = parse_base64(auth);
    const size_t colon = decoded ? decoded->find(':') : std::string::npos;
    if (colon == std::string::npos || colon == 0)
      wrong("has an \"auth\" that is not the base64 form of user:password");
    if (!is_plain(*decoded)) wrong("has control characters in its user or password");
    login_.user = decoded->substr(0, colon);
    login_.password = decoded->substr(colon + 1);
  }

  std::string key_;
  const std::string& file_;
  RegistryLogin login_;
};

bool is_empty(const RegistryLogin& login) {
  return login.user.empty() && login.identity_token.empty();
}

std::string basic(const RegistryLogin& login) {
  return base64(login.user + ":" + login.password);
}

}  // namespace

void RegistryCredentials::add_logins(const json::object& auths, const std::string& file) {
  // A key that is the name itself counts more than an address of the same registry.
  for (const bool is_address : {false, true}) {
    for (const auto& [key, value] : auths) {
      const std::string_view text = key;
      if ((without_scheme(text).size() != text.size()) != is_address) continue;
      RegistryLogin login = EntryReader{text, file}.read(value);
      if (!is_empty(login)) entries_.emplace(name_of(text), Entry{std::move(login), ""});
    }
  }
}

// A login that is in the file needs no helper, so this comes second.
void RegistryCredentials::add_helpers(const json::object& configuration, const std::string& file) {
  if (const json::object* helpers = section(configuration, "credHelpers", file)) {
    for (const auto& [key, value] : *helpers) {
      const json::string* helper = value.if_string();
      if (helper == nullptr) fail(Code::invalid, "{}: \"credHelpers\" must name programs", file);
      if (!helper->empty()) entries_.emplace(name_of(key), Entry{{}, one_line(*helper, 100)});
    }
  }
  const json::string* store = find_string(configuration, "credsStore");
  const json::object* auths = section(configuration, "auths", file);
  if (store == nullptr || store->empty() || auths == nullptr) return;
  // Clients note in `auths` that the store has a login, and no more.
  for (const auto& [key, value] : *auths)
    entries_.emplace(name_of(key), Entry{{}, one_line(*store, 100)});
}

RegistryCredentials RegistryCredentials::parse(std::string_view text, const std::string& file) {
  const json::object configuration = parse_configuration(text, file);
  RegistryCredentials credentials;
  if (const json::object* auths = section(configuration, "auths", file))
    credentials.add_logins(*auths, file);
  credentials.add_helpers(configuration, file);
  return credentials;
}

const RegistryLogin* RegistryCredentials::login_for(const ImageReference& image) const {
  const std::string full = image.full_repository();
  const size_t path = full.find('/');
  std::string name = canonical_registry(full.substr(0, path)) + full.substr(path);
  while (true) {
    const auto at = entries_.find(name);
    if (at != entries_.end() && at->second.helper.empty()) return &at->second.login;
    if (at != entries_.end()) {
      fail(Code::unavailable,
           "the login for {} is with the credential helper \"{}\", and belljar executes no "
           "programs: name a docker-config that has it in \"auths\" (podman login --authfile FILE "
           "{} writes one, and docker login where no helper is installed), or pull the image "
           "beforehand",
           image.home(), at->second.helper, image.home());
    }
    const size_t slash = name.rfind('/');
    if (slash == std::string::npos) return nullptr;
    name.resize(slash);
  }
}

std::shared_ptr<const RegistryCredentials> read_registry_credentials(const std::string& file) {
  if (file.empty()) return nullptr;
  std::string text;
  try {
    text = read_file(file, kLargestFile);
  } catch (const Error& error) {
    fail(Code::invalid,
         "docker-config: {}; it must be the file that `docker login` writes, usually "
         "~/.docker/config.json",
         error.what());
  }
  return std::make_shared<const RegistryCredentials>(RegistryCredentials::parse(text, file));
}

std::string registry_auth(const RegistryLogin& login) {
  json::object fields;
  if (!login.user.empty()) fields["username"] = login.user;
  if (login.identity_token.empty())
    fields["password"] = login.password;
  else
    fields["identitytoken"] = login.identity_token;
  const bool is_default = login.registry == canonical_registry("index.docker.io");
  fields["serveraddress"] = is_default ? kDefaultServer : std::string_view{login.registry};
  // For URLs, but with its padding: without it Podman refuses the header, and Docker ignores it.
  std::string text = base64(json::serialize(fields));
  std::replace(text.begin(), text.end(), '+', '-');
  std::replace(text.begin(), text.end(), '/', '_');
  return text;
}

bool repeats_secret(std::string_view words, const RegistryLogin& login) {
  for (const std::string& secret :
       {login.password, login.identity_token, basic(login), registry_auth(login)})
    if (!secret.empty() && words.find(secret) != words.npos) return true;
  return false;
}

}  // namespace belljar::docker
