# SPDX-License-Identifier: Apache-2.0
#
# Turns trace.proto into C++ constants: its enums with their names, and the field numbers of its messages, for code that
# may not link the protobuf library (everything inside the traced process).
BEGIN {
  print "// Generated from proto/trace.proto by proto/schema_constants.awk."
  print "#ifndef PROTO_SCHEMA_CONSTANTS_H_"
  print "#define PROTO_SCHEMA_CONSTANTS_H_"
  print "#include <cstdint>"
  print "namespace vramtrack::schema {"
}
{ sub(/\/\/.*/, "") }
/^enum [A-Za-z]+ \{/ { name = $2; names = ""; print "enum " name " : uint32_t {"; inside = "enum"; next }
/^message [A-Za-z]+ \{/ { name = $2; print "namespace " tolower_first(name) "_field {\nenum Number : uint32_t {"; inside = "message"; next }
/^\}/ { print (inside == "enum") ? "};\n" name_function() : "};\n}"; inside = ""; next }
inside == "enum" && /=/ {
  sub(/;.*/, "")
  print "  " $1 " = " $3 ","
  names = names "    case " $1 ": return \"" tolower($1) "\";\n"
}
inside == "message" && /=/ {
  line = $0; sub(/;.*/, "", line); number = line; sub(/.*= */, "", number); sub(/ *=.*/, "", line)
  n = split(line, words, " "); print "  " words[n] " = " number ","
}
# The name in lower case, null for a number that has none.
function name_function() {
  return "inline const char* " name "Name(uint32_t value) {\n  switch (value) {\n" names "    default: return nullptr;\n  }\n}"
}
function tolower_first(s) { return tolower(substr(s, 1, 1)) substr(s, 2) }
END { print "}  // namespace vramtrack::schema\n#endif" }
