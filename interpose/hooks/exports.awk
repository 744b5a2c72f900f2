# SPDX-License-Identifier: Apache-2.0
#
# The linker's version script, from the table of hooks: nothing else is exported but these.
BEGIN { print "{\n  global:\n    vramtrack_step;\n    dlclose;" }
/^VRAMTRACK_(ALLOCATES|FREES|OBSERVES)\(/ { sub(/^[A-Z_]+\(/, ""); sub(/,.*/, ""); print "    " $0 ";" }
END { print "  local:\n    *;\n};" }
