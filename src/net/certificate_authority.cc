#include "net/certificate_authority.h"

#include <openssl/bio.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509v3.h>

#include "base/error.h"

namespace belljar::net {
namespace {

using Key = std::unique_ptr<EVP_PKEY, void (*)(EVP_PKEY*)>;
using Certificate = std::unique_ptr<X509, void (*)(X509*)>;
using Memory = std::unique_ptr<BIO, decltype(&BIO_free)>;

constexpr long kHour = 3600;
constexpr long kTenYears = 10L * 366 * 24 * kHour;

void check(bool success, const char* what) {
  if (success) return;
  char reason[256] = "no reason given";
  if (const unsigned long code = ERR_get_error()) ERR_error_string_n(code, reason, sizeof reason);
  ERR_clear_error();
  fail(Code::internal, "cannot make a certificate: {}: {}", what, reason);
}

Key make_key() {
  Key key{EVP_EC_gen("P-256"), EVP_PKEY_free};
  check(key != nullptr, "make a key");
  return key;
}

void add_extension(X509* certificate, X509* issuer, int kind, const std::string& value) {
  X509V3_CTX context;
  X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
  const std::unique_ptr<X509_EXTENSION, decltype(&X509_EXTENSION_free)> extension{
      X509V3_EXT_conf_nid(nullptr, &context, kind, value.c_str()), &X509_EXTENSION_free};
  check(extension && X509_add_ext(certificate, extension.get(), -1) == 1, value.c_str());
}

Certificate make_certificate(EVP_PKEY* key, const std::string& name) {
  Certificate certificate{X509_new(), X509_free};
  check(certificate != nullptr, "no memory");
  uint64_t serial = 0;
  check(RAND_bytes(reinterpret_cast<unsigned char*>(&serial), sizeof serial) == 1, "random bytes");
  X509* x = certificate.get();
  const bool filled = X509_set_version(x, X509_VERSION_3) == 1 &&
                      ASN1_INTEGER_set_uint64(X509_get_serialNumber(x), serial >> 1) == 1 &&
                      X509_gmtime_adj(X509_getm_notBefore(x), -kHour) != nullptr &&
                      X509_gmtime_adj(X509_getm_notAfter(x), kTenYears) != nullptr &&
                      X509_set_pubkey(x, key) == 1 &&
                      X509_NAME_add_entry_by_txt(
                          X509_get_subject_name(x), "CN", MBSTRING_UTF8,
                          reinterpret_cast<const unsigned char*>(name.c_str()), -1, -1, 0) == 1;
  check(filled, "fill it in");
  return certificate;
}

template <class Write>
std::string to_pem(Write write) {
  const Memory memory{BIO_new(BIO_s_mem()), &BIO_free};
  check(memory && write(memory.get()) == 1, "write PEM");
  char* data = nullptr;
  const long size = BIO_get_mem_data(memory.get(), &data);
  return {data, static_cast<size_t>(size)};
}

std::string to_pem(X509* certificate) {
  return to_pem([certificate](BIO* memory) { return PEM_write_bio_X509(memory, certificate); });
}

std::string constraints(const std::vector<std::string>& domains) {
  std::string text = "critical";
  for (const std::string& domain : domains) text += ",permitted;DNS:" + domain;
  return text;
}

}  // namespace

CertificateAuthority::CertificateAuthority(const std::string& name,
                                           const std::vector<std::string>& domains)
    : key_{make_key()}, self_{make_certificate(key_.get(), name)} {
  X509* self = self_.get();
  check(X509_set_issuer_name(self, X509_get_subject_name(self)) == 1, "name its issuer");
  add_extension(self, self, NID_basic_constraints, "critical,CA:TRUE,pathlen:0");
  add_extension(self, self, NID_key_usage, "critical,keyCertSign");
  add_extension(self, self, NID_subject_key_identifier, "hash");
  if (!domains.empty()) add_extension(self, self, NID_name_constraints, constraints(domains));
  check(X509_sign(self, key_.get(), EVP_sha256()) > 0, "sign it");
  pem_ = to_pem(self);
}

CertificateAuthority::~CertificateAuthority() = default;

Credentials CertificateAuthority::issue(const std::string& names) const {
  const Key key = make_key();
  // The names are in the extension that counts; this one may be no longer than 64 characters.
  const Certificate certificate = make_certificate(key.get(), "issued by belljar");
  X509* x = certificate.get();
  check(X509_set_issuer_name(x, X509_get_subject_name(self_.get())) == 1, "name its issuer");
  add_extension(x, self_.get(), NID_basic_constraints, "critical,CA:FALSE");
  add_extension(x, self_.get(), NID_key_usage, "critical,digitalSignature");
  add_extension(x, self_.get(), NID_ext_key_usage, "serverAuth");
  add_extension(x, self_.get(), NID_subject_key_identifier, "hash");
  add_extension(x, self_.get(), NID_authority_key_identifier, "keyid:always");
  add_extension(x, self_.get(), NID_subject_alt_name, names);
  check(X509_sign(x, key_.get(), EVP_sha256()) > 0, "sign it");
  const auto write_key = [&key](BIO* memory) {
    return PEM_write_bio_PrivateKey(memory, key.get(), nullptr, nullptr, 0, nullptr, nullptr);
  };
  return {to_pem(x), to_pem(write_key)};
}

}  // namespace belljar::net
