// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_SERVE_HTTP_SERVER_H_
#define ANALYZER_SERVE_HTTP_SERVER_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace vramtrack {

// Where a server listens.
struct ListenAddress {
  std::string host;   // a name or a numeric address; empty: all IPv4 interfaces
  uint16_t port = 0;  // 0: any free port
};

// Parses "HOST:PORT", ":PORT" or "[IPV6]:PORT".
absl::StatusOr<ListenAddress> ParseListenAddress(const std::string& text);

struct HttpRequest {
  std::string path;    // up to the question mark, as the client sent it
  std::string query;   // after the question mark
  std::string host;    // the header Host; this and the next are empty if the request has none
  std::string origin;  // the header Origin
  uint16_t port = 0;   // of the server
};

struct HttpResponse {
  unsigned status = 200;
  std::string content_type;
  std::shared_ptr<const std::string> body;  // never null
  std::vector<std::pair<std::string, std::string>> headers = {};
};

// Serves GET and HEAD over HTTP/1.1 on a thread of its own; other methods get 405. No client can block another one or
// the end: the size of a request, the time to send it, the time to take the answer and the number of connections are
// limited, and where there are too many connections, the one that was idle longest is closed. Thread-compatible.
class HttpServer {
 public:
  // Returns the answer to a request. It is called on the server's thread and must return soon. HEAD is answered by the
  // same, without the body.
  using Handler = std::function<HttpResponse(const HttpRequest&)>;

  struct Limits {
    int request_ms = 10000;   // to send a request, also for the first one of a connection
    int response_ms = 30000;  // to take an answer
    size_t connections = 64;
  };

  // Listens and starts to serve. The error is one line that names the address.
  static absl::StatusOr<std::unique_ptr<HttpServer>> Start(const ListenAddress& address, Handler handler,
                                                           const Limits& limits);
  static absl::StatusOr<std::unique_ptr<HttpServer>> Start(const ListenAddress& address, Handler handler) {
    return Start(address, std::move(handler), Limits());
  }
  // Closes all connections at once.
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  uint16_t port() const;

 private:
  class Impl;
  explicit HttpServer(std::unique_ptr<Impl> impl);
  const std::unique_ptr<Impl> impl_;
};

}  // namespace vramtrack

#endif  // ANALYZER_SERVE_HTTP_SERVER_H_
