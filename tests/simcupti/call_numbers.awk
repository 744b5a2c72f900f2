# SPDX-License-Identifier: Apache-2.0
#
# Rows SIMCUPTI_RUNTIME_CALL(name, number) and SIMCUPTI_DRIVER_CALL of CUPTI's cupti_runtime_cbid.h and
# cupti_driver_cbid.h. Those of the runtime have the release that they are from in their names, which no function has.
match($0, /CUPTI_(RUNTIME|DRIVER)_TRACE_CBID_cu[A-Za-z0-9_]+ *= *[0-9]+/) {
  split(substr($0, RSTART, RLENGTH), parts, / *= */)
  driver = index(parts[1], "CUPTI_DRIVER") == 1
  name = parts[1]
  sub(/.*_TRACE_CBID_/, "", name)
  if (!driver) sub(/_v[0-9]+$/, "", name)
  print (driver ? "SIMCUPTI_DRIVER_CALL(" : "SIMCUPTI_RUNTIME_CALL(") name ", " parts[2] ")"
}
END { print "#undef SIMCUPTI_RUNTIME_CALL"; print "#undef SIMCUPTI_DRIVER_CALL" }
