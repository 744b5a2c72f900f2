// SPDX-License-Identifier: Apache-2.0
#ifndef TESTDATA_TRANSFORMER_SOURCE_LINE_H_
#define TESTDATA_TRANSFORMER_SOURCE_LINE_H_

namespace transformer {

// A place in the source. As a default argument, Here() is the place of the call.
struct SourceLine {
  const char* file;
  int line;

  static constexpr SourceLine Here(const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
    // A file that another one includes is "./FILE" to the compiler.
    return {file[0] == '.' && file[1] == '/' ? file + 2 : file, line};
  }
};

}  // namespace transformer

#endif  // TESTDATA_TRANSFORMER_SOURCE_LINE_H_
