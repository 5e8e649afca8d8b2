#include "net/test_certificates.h"

#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include <memory>

namespace belljar::net {
namespace {

using Key = std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)>;
using Certificate = std::unique_ptr<X509, decltype(&X509_free)>;
using Memory = std::unique_ptr<BIO, decltype(&BIO_free)>;

std::string content(BIO* memory) {
  char* data = nullptr;
  const long size = BIO_get_mem_data(memory, &data);
  return {data, static_cast<size_t>(size)};
}

void add_extension(X509* certificate, int kind, const std::string& value) {
  X509_EXTENSION* extension = X509V3_EXT_conf_nid(nullptr, nullptr, kind, value.c_str());
  X509_add_ext(certificate, extension, -1);
  X509_EXTENSION_free(extension);
}

Certificate make(EVP_PKEY* key, const char* name, long serial) {
  Certificate certificate{X509_new(), &X509_free};
  X509_set_version(certificate.get(), 2);
  ASN1_INTEGER_set(X509_get_serialNumber(certificate.get()), serial);
  X509_gmtime_adj(X509_getm_notBefore(certificate.get()), -3600);
  X509_gmtime_adj(X509_getm_notAfter(certificate.get()), 3600);
  X509_set_pubkey(certificate.get(), key);
  X509_NAME_add_entry_by_txt(X509_get_subject_name(certificate.get()), "CN", MBSTRING_ASC,
                             reinterpret_cast<const unsigned char*>(name), -1, -1, 0);
  return certificate;
}

TestCertificate to_pem(X509* certificate, EVP_PKEY* key) {
  TestCertificate result;
  const Memory first{BIO_new(BIO_s_mem()), &BIO_free};
  PEM_write_bio_X509(first.get(), certificate);
  result.certificate = content(first.get());
  const Memory second{BIO_new(BIO_s_mem()), &BIO_free};
  PEM_write_bio_PrivateKey(second.get(), key, nullptr, nullptr, 0, nullptr, nullptr);
  result.key = content(second.get());
  return result;
}

}  // namespace

TestAuthority::TestAuthority() {
  const Key key{EVP_EC_gen("P-256"), &EVP_PKEY_free};
  const Certificate certificate = make(key.get(), "Test Authority", 1);
  X509_set_issuer_name(certificate.get(), X509_get_subject_name(certificate.get()));
  add_extension(certificate.get(), NID_basic_constraints, "critical,CA:TRUE");
  add_extension(certificate.get(), NID_key_usage, "critical,keyCertSign");
  X509_sign(certificate.get(), key.get(), EVP_sha256());
  self_ = to_pem(certificate.get(), key.get());
}

TestCertificate TestAuthority::issue(const std::string& names) const {
  const Memory memory{BIO_new_mem_buf(self_.certificate.data(), -1), &BIO_free};
  const Certificate authority{PEM_read_bio_X509(memory.get(), nullptr, nullptr, nullptr),
                              &X509_free};
  const Memory key_memory{BIO_new_mem_buf(self_.key.data(), -1), &BIO_free};
  const Key authority_key{PEM_read_bio_PrivateKey(key_memory.get(), nullptr, nullptr, nullptr),
                          &EVP_PKEY_free};
  const Key key{EVP_EC_gen("P-256"), &EVP_PKEY_free};
  const Certificate certificate = make(key.get(), "Test Server", 2);
  X509_set_issuer_name(certificate.get(), X509_get_subject_name(authority.get()));
  add_extension(certificate.get(), NID_subject_alt_name, names);
  X509_sign(certificate.get(), authority_key.get(), EVP_sha256());
  return to_pem(certificate.get(), key.get());
}

}  // namespace belljar::net
