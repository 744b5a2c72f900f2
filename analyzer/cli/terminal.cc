// SPDX-License-Identifier: Apache-2.0
#include "analyzer/cli/terminal.h"

#include <poll.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <string_view>

#include "analyzer/cli/fatal_end.h"

namespace vramtrack {
namespace {

// Of xterm, which all terminals of today understand: the second screen, without a cursor, and back.
constexpr char kEnterScreen[] = "\x1b[?1049h\x1b[?25l";
constexpr char kLeaveScreen[] = "\x1b[?25h\x1b[?1049l";
constexpr std::array<int, 4> kEndingSignals = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};

termios g_before;

// Async-signal-safe.
void Restore() {
  [[maybe_unused]] const ssize_t written = write(STDOUT_FILENO, kLeaveScreen, sizeof(kLeaveScreen) - 1);
  tcsetattr(STDIN_FILENO, TCSANOW, &g_before);
}

void EndBySignal(int signal) {
  Restore();
  // SA_RESETHAND: the second time it ends the process.
  raise(signal);
}

// Only interrupts poll(): the next screen has the new size.
void NoteSize(int /*signal*/) {}

void WriteAll(std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = write(STDOUT_FILENO, text.data(), text.size());
    if (written < 0 && errno != EINTR && errno != EAGAIN) return;
    if (written > 0) text.remove_prefix(static_cast<size_t>(written));
  }
}

// -1: nothing more within that time.
int ReadByte(int milliseconds) {
  pollfd input = {STDIN_FILENO, POLLIN, 0};
  if (poll(&input, 1, milliseconds) <= 0) return -1;
  unsigned char byte = 0;
  return read(STDIN_FILENO, &byte, 1) == 1 ? byte : -1;
}

winsize Size() {
  winsize size = {};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0 || size.ws_row == 0) {
    size.ws_col = 80;
    size.ws_row = 24;
  }
  return size;
}

}  // namespace

bool Terminal::IsUsable() {
  const char* const name = getenv("TERM");
  const std::string_view kind = name == nullptr ? "" : name;
  return isatty(STDIN_FILENO) != 0 && isatty(STDOUT_FILENO) != 0 && !kind.empty() && kind != "dumb";
}

Terminal::Terminal() {
  tcgetattr(STDIN_FILENO, &before_);
  g_before = before_;
  for (const int signal : kEndingSignals) {
    struct sigaction end = {};
    end.sa_handler = EndBySignal;
    end.sa_flags = static_cast<int>(SA_RESETHAND | SA_NODEFER);
    sigaction(signal, &end, nullptr);
  }
  struct sigaction resize = {};
  resize.sa_handler = NoteSize;
  sigaction(SIGWINCH, &resize, nullptr);
  PrepareFatalEndWith(Restore);
  termios raw = before_;
  raw.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
  raw.c_cc[VMIN] = 1;
  raw.c_cc[VTIME] = 0;
  tcsetattr(STDIN_FILENO, TCSANOW, &raw);
  WriteAll(kEnterScreen);
}

Terminal::~Terminal() {
  PrepareFatalEndWith(nullptr);
  Restore();
  for (const int signal : kEndingSignals) ::signal(signal, SIG_DFL);
  ::signal(SIGWINCH, SIG_DFL);
}

int Terminal::columns() const { return Size().ws_col; }
size_t Terminal::rows() const { return Size().ws_row; }

int Terminal::WaitForKey(int milliseconds) {
  pollfd input = {STDIN_FILENO, POLLIN, 0};
  const int ready = poll(&input, 1, milliseconds);
  if (ready <= 0) return kNone;
  unsigned char byte = 0;
  if (read(STDIN_FILENO, &byte, 1) != 1) return kClosed;
  if (byte == 0x1b) return DecodeEscape();
  if (byte == '\r' || byte == '\n') return Key::kEnter;
  if (byte == 0x7f || byte == '\b') return kBackspace;
  return byte;
}

// The rest of a key's sequence follows at once; a lone escape has none.
int Terminal::DecodeEscape() {
  constexpr int kSoon = 25;  // milliseconds
  const int first = ReadByte(kSoon);
  if (first != '[' && first != 'O') return kEscape;
  int last = ReadByte(kSoon), number = 0;
  for (; (last >= '0' && last <= '9') || last == ';'; last = ReadByte(kSoon)) {
    if (last != ';' && number < 1000) number = 10 * number + (last - '0');
  }
  if (last == 'A') return kUp;
  if (last == 'B') return kDown;
  if (last == '~' && number == 5) return kPageUp;
  if (last == '~' && number == 6) return kPageDown;
  return kNone;
}

void Terminal::Show(const std::vector<std::string>& lines) const {
  std::string text = "\x1b[H";
  for (size_t i = 0; i < lines.size(); ++i) {
    if (i > 0) text += "\r\n";
    text += lines[i];
    text += "\x1b[K";
  }
  text += "\x1b[J";
  WriteAll(text);
}

}  // namespace vramtrack
