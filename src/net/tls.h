#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "net/certificate_authority.h"

struct ssl_st;  // OpenSSL's SSL

namespace boost::asio::ssl {
class context;
}

namespace belljar::net {

// PEM certificates of authorities, and where they are from: "the CA file /etc/corp.pem".
struct CaBundle {
  std::string where;
  std::string pem;
};

// Whom we believe. The system's certificates (OpenSSL's default places, SSL_CERT_FILE,
// SSL_CERT_DIR) count unless told otherwise; these come on top.
struct TlsSettings {
  enum class Verify { yes, no };
  enum class System { believed, ignored };
  std::vector<std::string> ca_files;  // PEM bundles; one that cannot be read is an Error
  std::vector<CaBundle> ca;           // one without a certificate is an Error
  // What SSL_CERT_FILE holds, if this process cannot read it later. Nothing: OpenSSL reads it.
  std::optional<std::string> system_pem;
  System system = System::believed;
  std::optional<Credentials> client;  // by which we prove ourselves to a server that asks
  Verify verify = Verify::yes;        // `no` is npm's strict-ssl=false: anybody can be the registry
};

// Reads the files now, for a process that will not be allowed to later: `ca_files` become `ca`.
// `system_file` is the value of SSL_CERT_FILE, "" if there is none; like OpenSSL, this goes on
// without one that cannot be read.
void read_ca_files(TlsSettings& settings, const std::string& system_file);

// A client's context: TLS 1.2 or newer, host and chain checked. Throws Error{invalid} for a bad
// file, and names it.
std::shared_ptr<boost::asio::ssl::context> make_tls_client(const TlsSettings& settings);

// A server's context: TLS 1.2 or newer, and HTTP/1.1 if the client asks what to speak; one that
// speaks only something else is turned away.
std::shared_ptr<boost::asio::ssl::context> make_tls_server(const Credentials& credentials);

// Before the handshake: which name is asked for (SNI) and must be in the certificate.
void expect_host(ssl_st* ssl, const std::string& host);

// After a failed handshake: why, and what to try. Never empty.
std::string why_handshake_failed(ssl_st* ssl, const std::string& error);

}  // namespace belljar::net
