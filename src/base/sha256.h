#pragma once

#include <memory>
#include <string>
#include <string_view>

struct evp_md_ctx_st;  // OpenSSL's EVP_MD_CTX

namespace belljar {

// SHA-256 of what is added in pieces.
class Sha256 {
 public:
  Sha256();
  void add(std::string_view bytes);

  // In lower-case hexadecimal; to be called once.
  std::string finish();

 private:
  std::unique_ptr<evp_md_ctx_st, void (*)(evp_md_ctx_st*)> context_;
};

}  // namespace belljar
