// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_RENDER_TEXT_TERMINAL_H_
#define ANALYZER_RENDER_TEXT_TERMINAL_H_

#include "analyzer/base/text_style.h"

namespace vramtrack {

enum class ColorMode { kAuto, kAlways, kNever };

// What can be shown on file descriptor `fd`. Columns: COLUMNS, or what the terminal says, or 100; within 80 to 120.
// Unicode when the locale of the environment is UTF-8. Colour by `color`; kAuto: on a terminal without NO_COLOR that is
// not "dumb".
TextStyle DetectStyle(int fd, ColorMode color);

}  // namespace vramtrack

#endif  // ANALYZER_RENDER_TEXT_TERMINAL_H_
