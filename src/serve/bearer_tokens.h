#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace belljar::serve {

// Tokens that an operator gave to owners, known by their SHA-256 only.
class BearerTokens {
 public:
  // `sha256` in lower-case hexadecimal. Several tokens may have the same owner.
  void add(std::string owner, std::string sha256);

  bool empty() const { return tokens_.empty(); }

  // Whose token this is. How long that takes tells nothing about the tokens there are.
  std::optional<std::string> owner_of(std::string_view token) const;

 private:
  struct Token {
    std::string owner;
    std::string sha256;
  };
  std::vector<Token> tokens_;
};

// A new one: 256 random bits as 43 characters.
std::string random_token();

std::string sha256_of(std::string_view text);

// The token of a header `Authorization: Bearer …`; nothing if the value has another form.
std::optional<std::string_view> bearer_of(std::string_view authorization);

}  // namespace belljar::serve
