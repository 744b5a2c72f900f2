// SPDX-License-Identifier: Apache-2.0
//
// Boost.Beast parses requests and writes answers. All of it runs on one thread and never waits for a client.
#include "analyzer/serve/http_server.h"

#include <fcntl.h>
#include <signal.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http.hpp>
#include <chrono>
#include <list>
#include <optional>
#include <thread>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

namespace vramtrack {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;
using asio::ip::tcp;
using boost::system::error_code;

constexpr size_t kMostHeaderBytes = 16 << 10;
constexpr int kBacklog = 64;
// After a request that is not read to its end, for the client to see the answer before the connection is reset.
constexpr std::chrono::milliseconds kLinger(500);
constexpr std::chrono::milliseconds kNoDescriptors(100);

std::string Text(beast::string_view text) { return {text.data(), text.size()}; }

// Programs that this one starts must not keep a connection open.
void CloseOnExec(int fd) { fcntl(fd, F_SETFD, FD_CLOEXEC); }

HttpResponse PlainText(unsigned status, std::string text) {
  return {status, "text/plain; charset=utf-8", std::make_shared<const std::string>(std::move(text))};
}

class Connection;
using Connections = std::list<std::shared_ptr<Connection>>;

struct Shared {
  HttpServer::Handler handler;
  HttpServer::Limits limits;
  Connections open;  // the one that was idle longest first
  uint16_t port = 0;
};

class Connection : public std::enable_shared_from_this<Connection> {
 public:
  Connection(tcp::socket socket, Shared* shared) : stream_(std::move(socket)), shared_(*shared) {}

  void Start() {
    CloseOnExec(stream_.socket().native_handle());
    self_ = shared_.open.insert(shared_.open.end(), shared_from_this());
    Read();
  }

  // What is under way ends with an error, which removes the connection from the list.
  void Close() { stream_.close(); }

 private:
  void Read() {
    parser_.emplace();
    parser_->header_limit(kMostHeaderBytes);
    stream_.expires_after(std::chrono::milliseconds(shared_.limits.request_ms));
    http::async_read_header(stream_, buffer_, *parser_,
                            [self = shared_from_this()](error_code error, size_t) { self->OnRequest(error); });
  }

  void OnRequest(error_code error) {
    if (error == http::error::header_limit) return Write(PlainText(431, "The request is too long.\n"), false, true);
    if (error.category() == make_error_code(http::error::bad_method).category() &&
        error != http::error::end_of_stream && error != http::error::partial_message) {
      return Write(PlainText(400, "Not a request of HTTP/1.1.\n"), false, true);
    }
    if (error) return End();
    shared_.open.splice(shared_.open.end(), shared_.open, self_);
    const auto& request = parser_->get();
    const bool is_head = request.method() == http::verb::head;
    const bool has_body = !parser_->is_done();
    if (!is_head && request.method() != http::verb::get) {
      HttpResponse response = PlainText(405, "Only GET and HEAD are served.\n");
      response.headers.emplace_back("Allow", "GET, HEAD");
      return Write(std::move(response), false, has_body);
    }
    const std::string target = Text(request.target());
    const size_t mark = target.find('?');
    HttpRequest asked;
    asked.path = target.substr(0, mark);
    if (mark != std::string::npos) asked.query = target.substr(mark + 1);
    asked.host = Text(request[http::field::host]);
    asked.origin = Text(request[http::field::origin]);
    asked.port = shared_.port;
    Write(shared_.handler(asked), is_head, has_body, request.keep_alive());
  }

  // `closes`: there is no way to find the next request.
  void Write(HttpResponse response, bool is_head, bool closes, bool keep_alive = false) {
    body_ = std::move(response.body);
    keeps_ = keep_alive && !closes;
    auto fill = [&](auto& message) {
      message.result(response.status);
      message.version(11);
      message.set(http::field::content_type, response.content_type);
      for (const auto& [name, value] : response.headers) message.set(name, value);
      message.keep_alive(keeps_);
      message.content_length(body_->size());
    };
    stream_.expires_after(std::chrono::milliseconds(shared_.limits.response_ms));
    auto done = [self = shared_from_this()](error_code error, size_t) { self->OnWritten(error); };
    if (is_head) {
      fill(head_.emplace());
      http::async_write(stream_, *head_, done);
    } else {
      fill(whole_.emplace());
      whole_->body() = beast::span<const char>(body_->data(), body_->size());
      http::async_write(stream_, *whole_, done);
    }
  }

  void OnWritten(error_code error) {
    if (error) return End();
    if (keeps_) return Read();
    // To close with unread bytes would discard the answer.
    stream_.socket().shutdown(tcp::socket::shutdown_send, error);
    stream_.expires_after(kLinger);
    buffer_.clear();
    stream_.async_read_some(buffer_.prepare(kMostHeaderBytes),
                            [self = shared_from_this()](error_code, size_t) { self->End(); });
  }

  void End() {
    if (!ended_) shared_.open.erase(self_);
    ended_ = true;
    stream_.close();
  }

  beast::tcp_stream stream_;
  Shared& shared_;
  Connections::iterator self_;
  beast::flat_buffer buffer_{kMostHeaderBytes};
  std::optional<http::request_parser<http::empty_body>> parser_;
  std::shared_ptr<const std::string> body_;  // what is being written
  std::optional<http::response<http::empty_body>> head_;
  std::optional<http::response<http::span_body<const char>>> whole_;
  bool keeps_ = false, ended_ = false;
};

}  // namespace

class HttpServer::Impl {
 public:
  Impl(Handler handler, const Limits& limits) : shared_{std::move(handler), limits, {}, 0} {}

  ~Impl() {
    io_.stop();
    if (thread_.joinable()) thread_.join();
    // Before what their sockets belong to. Handlers that never ran still refer to some of them.
    for (const std::shared_ptr<Connection>& connection : shared_.open) connection->Close();
    shared_.open.clear();
  }

  absl::Status Listen(const ListenAddress& address) {
    error_code error;
    tcp::endpoint endpoint(asio::ip::address_v4::any(), address.port);
    if (!address.host.empty()) {
      tcp::resolver resolver(io_);
      const auto found =
          resolver.resolve(address.host, absl::StrCat(address.port), tcp::resolver::numeric_service, error);
      if (!error && found.empty()) error = asio::error::host_not_found;
      if (!error) endpoint = *found.begin();
    }
    if (!error) acceptor_.open(endpoint.protocol(), error);
    if (!error) {
      CloseOnExec(acceptor_.native_handle());
      acceptor_.set_option(asio::socket_base::reuse_address(true), error);
    }
    if (!error) acceptor_.bind(endpoint, error);
    if (!error) acceptor_.listen(kBacklog, error);
    if (error) {
      return absl::InvalidArgumentError(
          absl::StrCat("cannot listen on ", address.host, ":", address.port, ": ", error.message()));
    }
    shared_.port = acceptor_.local_endpoint(error).port();
    Accept();
    // Signals are for the threads of the command.
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    thread_ = std::thread([this] { io_.run(); });
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    return absl::OkStatus();
  }

  uint16_t port() const { return shared_.port; }

 private:
  void Accept() {
    acceptor_.async_accept([this](error_code error, tcp::socket socket) {
      if (error == asio::error::operation_aborted) return;
      if (error) {
        if (!shared_.open.empty()) shared_.open.front()->Close();
        retry_.expires_after(kNoDescriptors);
        return retry_.async_wait([this](error_code) { Accept(); });
      }
      if (shared_.open.size() >= shared_.limits.connections) shared_.open.front()->Close();
      std::make_shared<Connection>(std::move(socket), &shared_)->Start();
      Accept();
    });
  }

  Shared shared_;
  asio::io_context io_{1};
  tcp::acceptor acceptor_{io_};
  asio::steady_timer retry_{io_};
  std::thread thread_;
};

HttpServer::HttpServer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
HttpServer::~HttpServer() = default;

uint16_t HttpServer::port() const { return impl_->port(); }

absl::StatusOr<std::unique_ptr<HttpServer>> HttpServer::Start(const ListenAddress& address, Handler handler,
                                                              const Limits& limits) {
  auto impl = std::make_unique<Impl>(std::move(handler), limits);
  if (absl::Status listens = impl->Listen(address); !listens.ok()) return listens;
  return std::unique_ptr<HttpServer>(new HttpServer(std::move(impl)));
}

absl::StatusOr<ListenAddress> ParseListenAddress(const std::string& text) {
  const size_t colon = text.rfind(':');
  uint32_t port = 0;
  ListenAddress address;
  if (colon != std::string::npos) address.host = text.substr(0, colon);
  const bool in_brackets = address.host.size() > 2 && address.host.front() == '[' && address.host.back() == ']';
  if (in_brackets) address.host = address.host.substr(1, address.host.size() - 2);
  if (colon == std::string::npos || !absl::SimpleAtoi(text.substr(colon + 1), &port) || port > 65535 ||
      (!in_brackets && address.host.find_first_of(":[]/ ") != std::string::npos)) {
    return absl::InvalidArgumentError(
        absl::StrCat("invalid address '", text, "' (examples: :9400, 127.0.0.1:9400, [::1]:9400)"));
  }
  address.port = static_cast<uint16_t>(port);
  return address;
}

}  // namespace vramtrack
