// SPDX-License-Identifier: Apache-2.0
//
// `vramtrack view`: serves the page of a job to a browser of this machine.
#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/random.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "analyzer/cli/commands.h"
#include "analyzer/cli/output.h"
#include "analyzer/cli/preload.h"
#include "analyzer/cli/viewed_traces.h"
#include "analyzer/render/html/html.h"
#include "analyzer/render/html/markup.h"
#include "analyzer/serve/http_server.h"
#include "proto/tool_version.h"

namespace vramtrack {
namespace {

constexpr size_t kTokenBytes = 16;
constexpr uint64_t kMostPort = 65535;
constexpr std::chrono::milliseconds kBetweenWork(50);
constexpr std::chrono::minutes kOnceValid(2);
constexpr char kHtml[] = "text/html; charset=utf-8";

std::string MakeToken() {
  std::array<char, kTokenBytes> bytes;
  if (getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size())) {
    throw CommandFailure{absl::StrCat("cannot read random bytes: ", std::strerror(errno))};
  }
  return absl::BytesToHexString(absl::string_view(bytes.data(), bytes.size()));
}

// In a time that does not depend on where they differ.
bool AreEqual(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  unsigned char differ = 0;
  for (size_t i = 0; i < a.size(); ++i) differ |= static_cast<unsigned char>(a[i] ^ b[i]);
  return differ == 0;
}

std::shared_ptr<const std::string> Shared(std::string text) {
  return std::make_shared<const std::string>(std::move(text));
}

std::string AddressOf(uint16_t port, const std::string& token) {
  return absl::StrCat("http://127.0.0.1:", port, "/", token, "/");
}

// Decides what a request gets. For one thread.
class TraceSite {
 public:
  // `once` is a token that is good for one request, soon, which learns the other one.
  TraceSite(const std::string& token, const std::string& once, ViewedTraces* traces)
      : prefix_("/" + token),
        traces_(*traces),
        page_(Shared(RenderLivePage(kToolVersion))),
        once_("/" + once + "/"),
        once_until_(std::chrono::steady_clock::now() + kOnceValid) {}

  HttpResponse Answer(const HttpRequest& request) {
    HttpResponse response = Route(request);
    const PageUse use = response.body == page_ ? PageUse::kLive : PageUse::kPlain;
    for (auto& header : std::initializer_list<std::pair<std::string, std::string>>{
             {"Content-Security-Policy", PagePolicy(use) + "; frame-ancestors 'none'"},
             {"X-Content-Type-Options", "nosniff"},
             {"X-Frame-Options", "DENY"},
             {"Referrer-Policy", "no-referrer"},
             {"Cross-Origin-Resource-Policy", "same-origin"},
             {"Cross-Origin-Opener-Policy", "same-origin"},
             {"Cache-Control", "no-store"}}) {
      response.headers.push_back(header);
    }
    return response;
  }

 private:
  HttpResponse Route(const HttpRequest& request) {
    // A page of another site can make a browser ask this server, by a name of its own that it lets point to 127.0.0.1.
    if (request.host != absl::StrCat("127.0.0.1:", request.port) &&
        request.host != absl::StrCat("localhost:", request.port)) {
      return Refuse(403, "Wrong host.");
    }
    if (!request.origin.empty() && request.origin != "http://" + request.host) return Refuse(403, "Wrong origin.");
    const std::string_view path = request.path;
    if (!once_.empty() && AreEqual(path, once_)) {
      once_.clear();
      if (std::chrono::steady_clock::now() < once_until_) return Redirect(prefix_ + "/");
    }
    if (!AreEqual(path.substr(0, prefix_.size()), prefix_)) {
      return Refuse(403, "Wrong address: use the one that vramtrack view printed.");
    }
    const std::string_view rest = path.substr(prefix_.size());
    if (rest.empty()) return Redirect(prefix_ + "/");
    if (rest[0] != '/') return Refuse(403, "Wrong address: use the one that vramtrack view printed.");
    if (rest == "/") {
      const std::optional<size_t> only = traces_.only();
      return Redirect(only ? absl::StrCat(*only, "/") : "traces/");
    }
    if (rest == "/traces/") return List();
    const size_t slash = rest.find('/', 1);
    uint64_t number = 0;
    if (slash == std::string_view::npos || !Number(rest.substr(1, slash - 1), &number)) return NotFound();
    const std::string_view name = rest.substr(slash + 1);
    uint64_t have = 0;
    if (name == "update" && absl::StartsWith(request.query, "have=") &&
        !Number(std::string_view(request.query).substr(5), &have)) {
      return Refuse(400, "Wrong version.");
    }
    const ViewedTraces::Text update = traces_.Update(number, have);
    if (!update || (!name.empty() && name != "update")) return NotFound();
    if (name.empty()) return {200, kHtml, page_};
    return {200, "application/json", update};
  }

  static bool Number(std::string_view text, uint64_t* number) {
    return absl::SimpleAtoi(absl::string_view(text.data(), text.size()), number);
  }
  static HttpResponse Refuse(unsigned status, const std::string& why) {
    return {status, "text/plain; charset=utf-8", Shared(why + "\n")};
  }
  static HttpResponse NotFound() { return Refuse(404, "There is nothing at this address."); }
  static HttpResponse Redirect(std::string to) {
    return {302, "text/plain", Shared(""), {{"Location", std::move(to)}}};
  }
  // It has no scripts.
  HttpResponse List() const { return {200, kHtml, traces_.List(), {{"Refresh", "10"}}}; }

  const std::string prefix_;
  ViewedTraces& traces_;
  const std::shared_ptr<const std::string> page_;
  std::string once_;  // empty: it has been used
  const std::chrono::steady_clock::time_point once_until_;
};

// Where there is no screen, a browser would take over the terminal.
bool HasScreen() {
  for (const char* name : {"DISPLAY", "WAYLAND_DISPLAY", "BROWSER"}) {
    const char* const value = std::getenv(name);
    if (value != nullptr && *value != '\0') return true;
  }
  return false;
}

void OpenBrowser(const std::string& address) {
  const std::string program = FindProgram("xdg-open");
  if (program.empty() || !HasScreen()) return;
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    posix_spawn_file_actions_addopen(&files, fd, "/dev/null", O_RDWR, 0);
  }
  // The browser stays when this terminal is closed.
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID);
  std::string name = "xdg-open", argument = address;
  char* arguments[] = {name.data(), argument.data(), nullptr};
  pid_t pid = 0;
  posix_spawn(&pid, program.c_str(), &files, &attributes, arguments, environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&files);
}

// Waits until the terminal, or the program at the other end of a pipe, is gone.
void WaitForHangUp() {
  while (true) {
    pollfd input = {STDIN_FILENO, 0, 0};
    const int ready = poll(&input, 1, -1);
    if (ready > 0 && (input.revents & (POLLHUP | POLLERR)) != 0) return;
    // Standard input is closed or a file.
    if (ready > 0) pause();
  }
}

}  // namespace

int ViewCommand(const Arguments& arguments) {
  ViewOptions options;
  uint16_t wanted_port = 0;  // any free one
  bool no_browser = false, no_source = false;
  CommandParser parser("view [OPTION...] TRACE|PID",
                       "Serve the HTML page of a job to a browser of this machine, and open it. The page follows a job "
                       "that runs. TRACE is a trace, or a folder of them; PID is a process that is traced, or the "
                       "launcher of such processes.");
  parser.Positional("TRACE|PID", &options.live.target);
  parser.Option("--port", "PORT", &wanted_port, "the port of the server (default: any free one)")
      ->check(WholeNumber(1, kMostPort));
  parser.Flag("--no-browser", &no_browser, "only print the address");
  parser.Flag("--no-source", &no_source, "leave source code out of the page");
  AddInterval(&parser, &options.live);
  AddAnalysis(&parser, &options.live);
  parser.Ending(
      "The server listens on 127.0.0.1 only, and answers only requests that have the random part of the address. It "
      "ends with Ctrl+C or when its terminal is closed.\n"
      "Exit code: 2 bad input or usage.");
  if (const auto code = parser.Parse(arguments)) return *code;

  options.source = !no_source;
  options.live.analysis.ReadCategories();
  const std::string token = MakeToken(), once = MakeToken();
  ViewedTraces traces(options);
  OrFail(traces.Open());
  TraceSite site(token, once, &traces);
  const std::unique_ptr<HttpServer> server = OrFail(HttpServer::Start(
      {"127.0.0.1", wanted_port}, [&site](const HttpRequest& request) { return site.Answer(request); }));
  const uint16_t port = server->port();
  OutputStream out;
  out.Write(AddressOf(port, token) + "\n");
  if (const int code = out.Finish(); code != kExitFine) return code;
  // Other users can see the arguments of programs.
  if (!no_browser) OpenBrowser(AddressOf(port, once));
  std::thread([&traces] {
    while (true) {
      traces.Work();
      std::this_thread::sleep_for(kBetweenWork);
    }
  }).detach();
  WaitForHangUp();
  // A look may be under way, and nothing is left to be written.
  _exit(kExitFine);
}

}  // namespace vramtrack
