#include "net/tls.h"

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <boost/asio/buffer.hpp>
#include <boost/asio/ip/address.hpp>
#include <boost/asio/ssl/context.hpp>
#include <utility>

#include "base/error.h"
#include "base/log.h"
#include "base/posix.h"

namespace belljar::net {
namespace {

namespace ssl = boost::asio::ssl;

bool is_address(const std::string& host) {
  boost::system::error_code error;
  boost::asio::ip::make_address(host, error);
  return !error;
}

// Adds every certificate of a bundle, and says how many there were. One that is there already is no
// error. OpenSSL's own form, with notes about trust, is read as OpenSSL and Node.js do.
int add_certificates(SSL_CTX* context, const std::string& pem) {
  std::unique_ptr<BIO, decltype(&BIO_free)> bio{
      BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())), &BIO_free};
  X509_STORE* store = SSL_CTX_get_cert_store(context);
  int count = 0;
  while (X509* certificate = PEM_read_bio_X509_AUX(bio.get(), nullptr, nullptr, nullptr)) {
    X509_STORE_add_cert(store, certificate);
    X509_free(certificate);
    ++count;
  }
  ERR_clear_error();
  return count;
}

CaBundle read_bundle(const std::string& file) {
  return {"the CA file " + file, read_file(file)};
}

void add_bundle(SSL_CTX* context, const CaBundle& bundle) {
  if (add_certificates(context, bundle.pem) == 0)
    fail(Code::invalid, "{} holds no PEM certificate", bundle.where);
}

// A file without certificates is no error here: SSL_CERT_FILE=/dev/null turns the system's bundle
// off.
void add_system_certificates(SSL_CTX* context, const std::optional<std::string>& pem) {
  if (pem) {
    SSL_CTX_set_default_verify_dir(context);
    add_certificates(context, *pem);
  } else {
    SSL_CTX_set_default_verify_paths(context);
  }
  ERR_clear_error();
}

void use_credentials(ssl::context& context, const Credentials& credentials) {
  context.use_certificate_chain(boost::asio::buffer(credentials.certificate));
  context.use_private_key(boost::asio::buffer(credentials.key), ssl::context::pem);
}

constexpr unsigned char kHttp11[] = "\x08http/1.1";
constexpr unsigned kHttp11Size = sizeof kHttp11 - 1;

int choose_http11(SSL*, const unsigned char** chosen, unsigned char* size,
                  const unsigned char* offered, unsigned offered_size, void*) {
  unsigned char* selected = nullptr;
  const int result =
      SSL_select_next_proto(&selected, size, kHttp11, kHttp11Size, offered, offered_size);
  if (result != OPENSSL_NPN_NEGOTIATED) return SSL_TLSEXT_ERR_ALERT_FATAL;
  *chosen = selected;
  return SSL_TLSEXT_ERR_OK;
}

}  // namespace

void read_ca_files(TlsSettings& settings, const std::string& system_file) {
  for (const std::string& file : std::exchange(settings.ca_files, {}))
    settings.ca.push_back(read_bundle(file));
  if (system_file.empty()) return;
  try {
    settings.system_pem = read_file(system_file);
  } catch (const Error& fault) {
    log::warning("SSL_CERT_FILE: {}", fault.what());
  }
}

std::shared_ptr<ssl::context> make_tls_client(const TlsSettings& settings) {
  auto context = std::make_shared<ssl::context>(ssl::context::tls_client);
  SSL_CTX* handle = context->native_handle();
  SSL_CTX_set_min_proto_version(handle, TLS1_2_VERSION);
  if (settings.system == TlsSettings::System::believed)
    add_system_certificates(handle, settings.system_pem);
  for (const std::string& file : settings.ca_files) add_bundle(handle, read_bundle(file));
  for (const CaBundle& bundle : settings.ca) add_bundle(handle, bundle);
  if (settings.client) use_credentials(*context, *settings.client);
  if (settings.verify == TlsSettings::Verify::no) {
    log::warning("strict-ssl is off: the registry's certificate is not checked");
    SSL_CTX_set_verify(handle, SSL_VERIFY_NONE, nullptr);
  } else {
    SSL_CTX_set_verify(handle, SSL_VERIFY_PEER, nullptr);
  }
  return context;
}

std::shared_ptr<ssl::context> make_tls_server(const Credentials& credentials) {
  auto context = std::make_shared<ssl::context>(ssl::context::tls_server);
  SSL_CTX_set_min_proto_version(context->native_handle(), TLS1_2_VERSION);
  SSL_CTX_set_alpn_select_cb(context->native_handle(), choose_http11, nullptr);
  use_credentials(*context, credentials);
  return context;
}

void expect_host(SSL* handle, const std::string& host) {
  // An address has no place in SNI (RFC 6066 §3) and is compared with other fields of the
  // certificate.
  if (is_address(host)) {
    X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(handle), host.c_str());
  } else {
    SSL_set_tlsext_host_name(handle, host.c_str());
    SSL_set_hostflags(handle, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
    SSL_set1_host(handle, host.c_str());
  }
  SSL_set_alpn_protos(handle, kHttp11, kHttp11Size);
}

std::string why_handshake_failed(SSL* handle, const std::string& error) {
  const long verdict = SSL_get_verify_result(handle);
  if (verdict == X509_V_OK) return error;
  const std::string reason = X509_verify_cert_error_string(verdict);
  if (verdict == X509_V_ERR_HOSTNAME_MISMATCH || verdict == X509_V_ERR_IP_ADDRESS_MISMATCH)
    return reason + " (the certificate is for another host)";
  return reason +
         " (if a proxy or a private registry signs with its own CA, name it in `cafile` of "
         "~/.npmrc or in NODE_EXTRA_CA_CERTS)";
}

}  // namespace belljar::net
