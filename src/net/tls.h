#pragma once

#include <memory>
#include <string>
#include <vector>

struct ssl_st;  // OpenSSL's SSL

namespace boost::asio::ssl {
class context;
}

namespace belljar::net {

// Whom we believe. The system's certificates (OpenSSL's default places, SSL_CERT_FILE,
// SSL_CERT_DIR) always count; these come on top.
struct TlsSettings {
  enum class Verify { yes, no };
  std::vector<std::string> ca_files;  // PEM bundles; one that cannot be read is an Error
  std::vector<std::string> ca_pem;    // certificates themselves
  Verify verify = Verify::yes;        // `no` is npm's strict-ssl=false: anybody can be the registry
};

// A client's context: TLS 1.2 or newer, host and chain checked. Throws Error{invalid} for a bad
// file.
std::shared_ptr<boost::asio::ssl::context> make_tls_client(const TlsSettings& settings);

// Before the handshake: which name is asked for (SNI) and must be in the certificate.
void expect_host(ssl_st* ssl, const std::string& host);

// After a failed handshake: why, and what to try. Never empty.
std::string why_handshake_failed(ssl_st* ssl, const std::string& error);

}  // namespace belljar::net
