// SPDX-License-Identifier: Apache-2.0
#include "analyzer/serve/http_server.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"

namespace vramtrack {
namespace {

constexpr char kRequest[] = "GET /a?b=c HTTP/1.1\r\nHost: here\r\nOrigin: http://there\r\n\r\n";
constexpr size_t kLargeBytes = 64 << 20;  // more than sockets hold

// A connection to the server, by hand.
class Client {
 public:
  explicit Client(const HttpServer& server) : fd_(socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_port = htons(server.port());
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(connect(fd_, reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
  }
  ~Client() { close(fd_); }
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  void Send(const std::string& text) const { send(fd_, text.data(), text.size(), MSG_NOSIGNAL); }

  // All that comes until the server closes.
  std::string Rest() const {
    std::string text;
    char buffer[1 << 16];
    ssize_t bytes;
    while ((bytes = recv(fd_, buffer, sizeof(buffer), 0)) > 0) text.append(buffer, static_cast<size_t>(bytes));
    return text;
  }

 private:
  const int fd_;
};

std::unique_ptr<HttpServer> Serve(HttpServer::Handler handler, const HttpServer::Limits& limits = {}) {
  absl::StatusOr<std::unique_ptr<HttpServer>> server = HttpServer::Start({"127.0.0.1", 0}, std::move(handler), limits);
  EXPECT_TRUE(server.ok()) << server.status();
  return *std::move(server);
}

HttpResponse Says(const HttpRequest& request) {
  return {200,
          "text/plain",
          std::make_shared<const std::string>(absl::StrCat(request.path, "|", request.query, "|", request.host, "|",
                                                           request.origin, "|", request.port)),
          {{"X-More", "yes"}}};
}

HttpResponse SaysMuch(const HttpRequest&) {
  static const auto body = std::make_shared<const std::string>(kLargeBytes, 'x');
  return {200, "text/plain", body};
}

TEST(HttpServer, Answers) {
  const auto server = Serve(Says);
  const Client client(*server);
  client.Send(kRequest);
  client.Send("HEAD / HTTP/1.1\r\nConnection: close\r\n\r\n");
  const std::string answer = client.Rest();
  const std::string body = absl::StrCat("/a|b=c|here|http://there|", server->port());
  EXPECT_NE(answer.find("HTTP/1.1 200 OK\r\n"), std::string::npos) << answer;
  EXPECT_NE(answer.find("X-More: yes\r\n"), std::string::npos) << answer;
  EXPECT_NE(answer.find("\r\n\r\n" + body + "HTTP/1.1 200 OK\r\n"), std::string::npos) << answer;
  EXPECT_EQ(answer.substr(answer.size() - 4), "\r\n\r\n") << answer;
}

TEST(HttpServer, SendsLargeAnswers) {
  const auto server = Serve(SaysMuch);
  const Client client(*server);
  client.Send("GET / HTTP/1.1\r\nConnection: close\r\n\r\n");
  EXPECT_GT(client.Rest().size(), kLargeBytes);
}

TEST(HttpServer, RefusesWhatItDoesNotServe) {
  const auto server = Serve(Says);
  for (const auto& [request, status] : std::vector<std::pair<std::string, std::string>>{
           {"POST / HTTP/1.1\r\nContent-Length: 4\r\n\r\nabcd", "405"},
           {"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n", "405"},
           {"nonsense\r\n\r\n", "400"},
           {"GET / HTTP/1.1\r\nX: " + std::string(100000, 'y'), "431"},
           // Its body is not read, so there can be no other request after it.
           {"GET / HTTP/1.1\r\nContent-Length: 4\r\n\r\nabcd", "200"}}) {
    const Client client(*server);
    client.Send(request);
    EXPECT_EQ(client.Rest().substr(9, 3), status) << request.substr(0, 60);
  }
}

TEST(HttpServer, ClosesConnectionsOfClientsThatAreTooSlow) {
  HttpServer::Limits limits;
  limits.request_ms = limits.response_ms = 50;
  const auto server = Serve(SaysMuch, limits);
  const Client silent(*server), half(*server), deaf(*server);
  half.Send("GET / HTTP/1.1\r\nHost:");
  deaf.Send(kRequest);
  EXPECT_EQ(silent.Rest(), "");
  EXPECT_EQ(half.Rest(), "");
  // It took nothing for longer than the server waits; what the system had kept is all that it gets.
  EXPECT_LT((usleep(2000000), deaf.Rest().size()), kLargeBytes);
}

TEST(HttpServer, ClosesTheConnectionThatWasIdleLongest) {
  HttpServer::Limits limits;
  limits.connections = 3;
  const auto server = Serve(Says, limits);
  std::vector<std::unique_ptr<Client>> clients;
  for (int i = 0; i < 10; ++i) {
    clients.push_back(std::make_unique<Client>(*server));
    // Each has been accepted when it is answered.
    clients.back()->Send("GET / HTTP/1.1\r\nContent-Length: 1\r\n\r\n");
    EXPECT_EQ(clients.back()->Rest().substr(9, 3), "200");
  }
  const Client first(*server), second(*server), third(*server), fourth(*server);
  EXPECT_EQ(first.Rest(), "");
}

TEST(HttpServer, EndsWithConnectionsInEveryState) {
  auto server = Serve(SaysMuch);
  const Client silent(*server), half(*server), deaf(*server), answered(*server);
  half.Send("GET / HTTP/1.1\r\nHost:");
  deaf.Send(kRequest);
  answered.Send("POST / HTTP/1.1\r\nConnection: close\r\n\r\n");
  EXPECT_EQ(answered.Rest().substr(9, 3), "405");
  server.reset();
  EXPECT_EQ(silent.Rest(), "");
}

TEST(HttpServer, SaysWhyItCannotListen) {
  const auto server = Serve(Says);
  const auto taken = HttpServer::Start({"127.0.0.1", server->port()}, Says);
  EXPECT_NE(taken.status().message().find(absl::StrCat("127.0.0.1:", server->port(), ": ")), std::string::npos);
}

TEST(ParseListenAddress, TakesHostsAndPorts) {
  for (const auto& [text, host, port] :
       std::vector<std::tuple<std::string, std::string, int>>{{":9400", "", 9400},
                                                              {"127.0.0.1:1", "127.0.0.1", 1},
                                                              {"[::1]:65535", "::1", 65535},
                                                              {"node:0", "node", 0}}) {
    const auto address = ParseListenAddress(text);
    ASSERT_TRUE(address.ok()) << text;
    EXPECT_EQ(address->host, host);
    EXPECT_EQ(address->port, port);
  }
  for (const char* text :
       {"", ":", "9400", "node", "node:", "node:x", "node:65536", "node:-1", "::1:80", "http://x:80"}) {
    EXPECT_FALSE(ParseListenAddress(text).ok()) << text;
  }
}

}  // namespace
}  // namespace vramtrack
