#include "drivers/docker/pull_refusal.h"

#include <algorithm>

#include "base/error.h"
#include "drivers/docker/engine_answers.h"

namespace belljar::docker {
namespace {

bool says(std::string_view text, std::string_view part) {
  return text.find(part) != text.npos;
}

// Engines have no codes for this, only words, and answer 500 for a registry's 401.
bool is_denial(int status, std::string_view words) {
  if (status == 401 || status == 403) return true;
  // What the host's kernel says to an engine.
  if (says(words, "permission denied")) return false;
  return says(words, "denied") || says(words, "unauthorized") ||
         says(words, "no basic auth credentials") || says(words, "authentication required") ||
         says(words, "403 (Forbidden)") || says(words, "incorrect username or password");
}

bool is_absence(int status, std::string_view words) {
  return status == 404 || says(words, "not found") || says(words, "manifest unknown") ||
         says(words, "does not exist") || says(words, "name unknown");
}

std::string shown(const PullSubject& subject, std::string_view words) {
  if (words.empty()) return "it says no more";
  if (subject.login != nullptr && repeats_secret(words, *subject.login))
    return "its words repeat a credential, and are left out";
  return one_line(words);
}

}  // namespace

void refuse_pull(const PullSubject& subject, int status, std::string_view words) {
  const std::string why = shown(subject, words);
  // First: a registry that hides what it has says both.
  if (is_denial(status, words)) {
    if (subject.login != nullptr) {
      fail(Code::denied,
           "the registry {} does not give the image {} to the credentials that docker-config has "
           "for it: {}; see that they may pull it, or log in again (docker login {}) and restart "
           "belljar",
           subject.registry, subject.image, why, subject.registry);
    }
    fail(Code::denied,
         "the registry {} does not give the image {} to everybody, and belljar has no credentials "
         "for it: {}; whoever runs belljar can log in (docker login {}) and name the file with the "
         "login as docker-config, or pull the image beforehand",
         subject.registry, subject.image, why, subject.registry);
  }
  fail(is_absence(status, words) ? Code::not_found : Code::unavailable,
       "the image {} cannot be pulled: {}", subject.image, why);
}

}  // namespace belljar::docker
