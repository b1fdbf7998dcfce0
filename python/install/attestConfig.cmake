# SPDX-License-Identifier: Apache-2.0
# find_package(attest) gives attest::attest (the directory of attest.h), attest::fuzz, and
#
#   attest_certify(TARGET [ARGUMENTS...])
#
# which adds the test certify-TARGET to ctest: the shared library TARGET is certified, with ARGUMENTS
# for the command line ("--level" "smoke").

get_filename_component(attest_libdir "${CMAKE_CURRENT_LIST_DIR}/../.." ABSOLUTE)
find_program(ATTEST_PROGRAM attest HINTS "${attest_libdir}/../bin" "${attest_libdir}/../../bin")
find_path(attest_include attest.h HINTS "${attest_libdir}/../include" "${attest_libdir}/../../include")

if(ATTEST_PROGRAM AND attest_include)
  set(attest_FOUND TRUE)
else()
  set(attest_FOUND FALSE)
  set(attest_NOT_FOUND_MESSAGE "no attest program or no attest.h beside ${CMAKE_CURRENT_LIST_DIR}")
endif()

if(attest_FOUND AND NOT TARGET attest::attest)
  add_library(attest::attest INTERFACE IMPORTED)
  set_target_properties(attest::attest PROPERTIES INTERFACE_INCLUDE_DIRECTORIES "${attest_include}")
  add_library(attest::fuzz STATIC IMPORTED)
  set_target_properties(attest::fuzz PROPERTIES
    IMPORTED_LOCATION "${attest_libdir}/libattest_fuzz.a"
    INTERFACE_INCLUDE_DIRECTORIES "${attest_include}"
    INTERFACE_LINK_LIBRARIES "m;pthread")
endif()

function(attest_certify target)
  if(NOT TARGET ${target})
    message(FATAL_ERROR "attest_certify(${target}): there is no such target")
  endif()
  add_test(NAME certify-${target} COMMAND ${ATTEST_PROGRAM} certify $<TARGET_FILE:${target}> ${ARGN})
endfunction()
