# SPDX-License-Identifier: Apache-2.0
#
# Turns trace.proto into C++ constants: its enums, and the field numbers of its messages, for code that may not
# link the protobuf library (everything inside the traced process).
BEGIN {
  print "// Generated from proto/trace.proto by proto/schema_constants.awk."
  print "#ifndef PROTO_SCHEMA_CONSTANTS_H_"
  print "#define PROTO_SCHEMA_CONSTANTS_H_"
  print "#include <cstdint>"
  print "namespace vramtrack::schema {"
}
{ sub(/\/\/.*/, "") }
/^enum [A-Za-z]+ \{/ { name = $2; print "enum " name " : uint32_t {"; inside = "enum"; next }
/^message [A-Za-z]+ \{/ { name = $2; print "namespace " tolower_first(name) "_field {\nenum Number : uint32_t {"; inside = "message"; next }
/^\}/ { print (inside == "enum") ? "};" : "};\n}"; inside = ""; next }
inside == "enum" && /=/ { sub(/;.*/, ""); print "  " $1 " = " $3 "," }
inside == "message" && /=/ {
  line = $0; sub(/;.*/, "", line); number = line; sub(/.*= */, "", number); sub(/ *=.*/, "", line)
  n = split(line, words, " "); print "  " words[n] " = " number ","
}
function tolower_first(s) { return tolower(substr(s, 1, 1)) substr(s, 2) }
END { print "}  // namespace vramtrack::schema\n#endif" }
