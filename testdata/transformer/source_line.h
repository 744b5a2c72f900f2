// SPDX-License-Identifier: Apache-2.0
#ifndef TESTDATA_TRANSFORMER_SOURCE_LINE_H_
#define TESTDATA_TRANSFORMER_SOURCE_LINE_H_

namespace transformer {

// A line of the source code. As a default argument, Here() is the line of the call.
struct SourceLine {
  const char* file;
  int line;

  static constexpr SourceLine Here(const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
    // The compiler names an included file "./FILE".
    return {file[0] == '.' && file[1] == '/' ? file + 2 : file, line};
  }
};

}  // namespace transformer

#endif  // TESTDATA_TRANSFORMER_SOURCE_LINE_H_
