# The build rules every folder shares: defaults, dependencies, warnings, and the functions that make targets.

# ---- defaults ------------------------------------------------------------------------------------------------------
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Debug, Release or RelWithDebInfo" FORCE)
endif()
set(CMAKE_C_STANDARD 11)
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_C_EXTENSIONS OFF)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/bin")
set(CMAKE_ARCHIVE_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/lib")
set(CMAKE_PCH_INSTANTIATE_TEMPLATES OFF)

# Sanitizers for all of our code, plugins included: address,undefined. Slower tests get more time.
set(SLIPWAY_SANITIZE "" CACHE STRING "Sanitizers of GCC to build with, such as address,undefined; none when empty")
if(SLIPWAY_SANITIZE)
  add_compile_options(-fsanitize=${SLIPWAY_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer -g1 -O1)
  add_link_options(-fsanitize=${SLIPWAY_SANITIZE})
endif()

find_program(SLIPWAY_CCACHE ccache)
mark_as_advanced(SLIPWAY_CCACHE)
if(SLIPWAY_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  # Without the sloppiness ccache refuses every file that uses a precompiled header.
  set(launcher env CCACHE_SLOPPINESS=pch_defines,time_macros "${SLIPWAY_CCACHE}")
  set(CMAKE_C_COMPILER_LAUNCHER ${launcher})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${launcher})
endif()

# ---- dependencies --------------------------------------------------------------------------------------------------
set(Boost_NO_BOOST_CMAKE ON)
find_package(Boost 1.74 REQUIRED COMPONENTS filesystem)
find_package(nlohmann_json 3.11 REQUIRED)
find_package(OpenSSL REQUIRED)
find_package(Threads REQUIRED)
find_package(Python3 REQUIRED COMPONENTS Interpreter)
find_package(GTest REQUIRED)
find_package(benchmark REQUIRED)
file(GLOB SLIPWAY_TORCH_HINTS "${PROJECT_SOURCE_DIR}/.deps/venv/lib/python3*/site-packages/torch")
include(SlipwayTorch)
include(SlipwayCuda)
include(SlipwayPlugin)

find_path(SLIPWAY_XXHASH_INCLUDE xxhash.h REQUIRED)
find_library(SLIPWAY_XXHASH_LIBRARY xxhash REQUIRED)
add_library(slipway_xxhash INTERFACE)
target_include_directories(slipway_xxhash SYSTEM INTERFACE "${SLIPWAY_XXHASH_INCLUDE}")
target_link_libraries(slipway_xxhash INTERFACE "${SLIPWAY_XXHASH_LIBRARY}")

# Not OpenMP::OpenMP_CXX: the path of the compiler's own libgomp in it makes CMake warn, for every program, that
# LibTorch's hides it. That is what we want.
add_library(slipway_openmp INTERFACE)
target_link_options(slipway_openmp INTERFACE -fopenmp)

# ---- options of our own code, linked PRIVATE -----------------------------------------------------------------------
# One set for libraries, plugins and programs alike, so that all of them can share one precompiled header.
# -ffp-contract=off: a vector body and its scalar tail must round alike. -Wno-restrict: GCC 12 warns of every
# "text" + std::string (GCC bug 105651). -fopenmp: without it at::parallel_for is a plain
# loop; only code that uses it links libgomp.
add_library(slipway_options INTERFACE)
target_compile_options(
  slipway_options
  INTERFACE -Wall -Wextra -Wpedantic -Werror -Wno-restrict -ffp-contract=off -fopenmp -fPIC -fvisibility=hidden
            $<$<COMPILE_LANGUAGE:CXX>:-fvisibility-inlines-hidden -fno-gnu-unique -fpch-preprocess>)
target_include_directories(slipway_options INTERFACE "${PROJECT_SOURCE_DIR}")

# The precompiled header of LibTorch code.
add_library(slipway_torch_pch OBJECT "${PROJECT_SOURCE_DIR}/scripts/cmake/torch_pch.cpp")
target_link_libraries(slipway_torch_pch PRIVATE slipway_options slipway_torch)
target_precompile_headers(slipway_torch_pch PRIVATE <ATen/ATen.h> <torch/csrc/autograd/custom_function.h>)

# ---- functions -----------------------------------------------------------------------------------------------------

# Adds those of the named subfolders that have a CMakeLists.txt.
function(slipway_add_subdirectories)
  foreach(folder IN LISTS ARGN)
    if(EXISTS "${CMAKE_CURRENT_SOURCE_DIR}/${folder}/CMakeLists.txt")
      add_subdirectory(${folder})
    endif()
  endforeach()
endfunction()

# Gives `target` our warnings and options, and LibTorch with its precompiled header when `use_torch` is true.
function(slipway_own_code target use_torch)
  target_link_libraries(${target} PRIVATE slipway_options)
  if(use_torch)
    target_link_libraries(${target} PUBLIC slipway_torch slipway_openmp)
    target_precompile_headers(${target} REUSE_FROM slipway_torch_pch)
  endif()
endfunction()

# slipway_library(NAME SOURCES a.cpp... [DEPS targets...] [TORCH])
# Makes the static library NAME. DEPS are PUBLIC.
function(slipway_library name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "TORCH" "" "SOURCES;DEPS")
  slipway_no_rest("slipway_library(${name})" "${arg_UNPARSED_ARGUMENTS}")
  add_library(${name} STATIC ${arg_SOURCES})
  target_link_libraries(${name} PUBLIC ${arg_DEPS})
  slipway_own_code(${name} "${arg_TORCH}")
endfunction()

# slipway_program(NAME SOURCES main.cpp... [DEPS targets...] [TORCH])
# Makes the program build/bin/NAME and installs it.
function(slipway_program name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "TORCH" "" "SOURCES;DEPS")
  slipway_no_rest("slipway_program(${name})" "${arg_UNPARSED_ARGUMENTS}")
  add_executable(${name} ${arg_SOURCES})
  target_link_libraries(${name} PRIVATE ${arg_DEPS})
  slipway_own_code(${name} "${arg_TORCH}")
  slipway_torch_first_in_rpath(${name})
  install(TARGETS ${name} RUNTIME DESTINATION bin)
endfunction()

# slipway_test(path/foo_test.cpp LABEL unit [TIMEOUT 60] [SOURCES more.cpp...] [DEPS targets...] [ARGS args...] [TORCH])
# Makes a GoogleTest program named after the path below tests/ and registers it with ctest under LABEL.
# The test runs with SLIPWAY_SOURCE_DIR and SLIPWAY_BUILD_DIR set. The target LABEL_tests builds all of a label.
function(slipway_test path)
  cmake_parse_arguments(PARSE_ARGV 1 arg "TORCH" "LABEL;TIMEOUT" "SOURCES;DEPS;ARGS")
  slipway_no_rest("slipway_test(${path})" "${arg_UNPARSED_ARGUMENTS}")
  if(NOT arg_LABEL)
    message(FATAL_ERROR "slipway_test(${path}): LABEL is missing")
  endif()
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 60)
  endif()
  slipway_name_from_path("${path}" name)
  add_executable(${name} ${path} ${arg_SOURCES})
  target_link_libraries(${name} PRIVATE ${arg_DEPS} GTest::gmock GTest::gtest_main)
  slipway_own_code(${name} "${arg_TORCH}")
  slipway_torch_first_in_rpath(${name})
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/tests/bin")
  slipway_register_test(${name} LABEL ${arg_LABEL} TIMEOUT ${arg_TIMEOUT} COMMAND ${name} ${arg_ARGS})
  if(NOT TARGET ${arg_LABEL}_tests)
    add_custom_target(${arg_LABEL}_tests COMMENT "Everything for ctest -L ${arg_LABEL}")
  endif()
  add_dependencies(${arg_LABEL}_tests ${name})
endfunction()

# detect_container_overflow off: LibTorch's own code does not keep the marks that ours puts around a std::vector.
# allocator_may_return_null: tests ask for more memory than there is.
# detect_stack_use_after_return stays off: GCC 12 misaligns vectors of 64 bytes with it (GCC bug 110027).
set(SLIPWAY_SANITIZER_ENVIRONMENT
    "ASAN_OPTIONS=detect_container_overflow=0:allocator_may_return_null=1"
    "UBSAN_OPTIONS=print_stacktrace=1")

# slipway_register_test(NAME LABEL label TIMEOUT seconds COMMAND command...)
# Registers any command with ctest, with the environment that every test gets (why GOMP_SPINCOUNT: launcher/main.cpp).
function(slipway_register_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "LABEL;TIMEOUT" "COMMAND")
  set(environment "SLIPWAY_SOURCE_DIR=${PROJECT_SOURCE_DIR}" "SLIPWAY_BUILD_DIR=${CMAKE_BINARY_DIR}" GOMP_SPINCOUNT=1000)
  if(SLIPWAY_SANITIZE)
    math(EXPR arg_TIMEOUT "10 * ${arg_TIMEOUT}")
    list(APPEND environment ${SLIPWAY_SANITIZER_ENVIRONMENT})
  endif()
  add_test(NAME ${name} COMMAND ${arg_COMMAND})
  set_tests_properties(${name} PROPERTIES LABELS ${arg_LABEL} TIMEOUT ${arg_TIMEOUT} ENVIRONMENT "${environment}")
endfunction()

# tests/unit/base/error_test.cpp -> unit_base_error_test
function(slipway_name_from_path path result)
  cmake_path(ABSOLUTE_PATH path BASE_DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}" OUTPUT_VARIABLE name)
  cmake_path(RELATIVE_PATH name BASE_DIRECTORY "${PROJECT_SOURCE_DIR}/tests")
  string(REGEX REPLACE "\\.[a-z]+$" "" name "${name}")
  string(REGEX REPLACE "[^A-Za-z0-9]+" "_" name "${name}")
  set(${result} ${name} PARENT_SCOPE)
endfunction()

# Stops at arguments that a function did not understand.
function(slipway_no_rest where rest)
  if(rest)
    message(FATAL_ERROR "${where}: unknown arguments: ${rest}")
  endif()
endfunction()

# DT_RPATH, not DT_RUNPATH: it also serves what the libraries themselves load, so LibTorch's own libgomp wins.
function(slipway_torch_first_in_rpath target)
  target_link_options(${target} PRIVATE -Wl,--disable-new-dtags)
  set_target_properties(${target} PROPERTIES INSTALL_RPATH "${SLIPWAY_TORCH_ROOT}/lib")
endfunction()
