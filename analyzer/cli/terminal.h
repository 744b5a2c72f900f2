// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_CLI_TERMINAL_H_
#define ANALYZER_CLI_TERMINAL_H_

#include <termios.h>

#include <cstddef>
#include <string>
#include <vector>

namespace vramtrack {

// The whole terminal as a screen of lines, with keys as they are pressed. The constructor saves the terminal's settings
// and its contents; the destructor restores both, and so does a signal or an error that ends the process. At most one
// object at a time. Not thread-safe.
class Terminal {
 public:
  // A key that is not a character.
  enum Key : int { kNone = 0, kUp = 1000, kDown, kPageUp, kPageDown, kEnter, kEscape, kBackspace, kClosed };

  // Uses standard input and standard output, which must be a terminal: see IsUsable.
  Terminal();
  ~Terminal();
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;

  // Returns whether standard input and output are a terminal that can move its cursor.
  static bool IsUsable();

  // Returns the present size; 80 x 24 if the terminal does not tell.
  int columns() const;
  size_t rows() const;

  // Waits for a key, at most so long. Returns kNone after that time or when the size has changed, kClosed when the
  // terminal is gone, the character of a key that has one, or a Key.
  int WaitForKey(int milliseconds);

  // Shows these lines from the top and clears what is below them.
  void Show(const std::vector<std::string>& lines) const;

 private:
  int DecodeEscape();

  termios before_;
};

}  // namespace vramtrack

#endif  // ANALYZER_CLI_TERMINAL_H_
