# Decides whether this build has the CUDA and NCCL parts, and sets
#   SLIPWAY_HAS_CUDA      TRUE or FALSE
#   SLIPWAY_CUDA_SUMMARY  one line: what was found, or why the parts are left out
# and, when TRUE, enables the language CUDA and makes the target slipway_torch_cuda.
#
# -DSLIPWAY_CUDA=AUTO takes what is there, ON stops when something is missing, OFF leaves the parts out. Looked for in
# CUDAToolkit_ROOT when that is given and nowhere else, otherwise in PATH, CUDA_HOME and /usr/local/cuda. No GPU is
# needed: nothing here runs on one.
#
# Not through LibTorch's own cuda.cmake: that one asks for every CUDA library of its build, used or not. So
# TORCH_CUDA_ARCH_LIST has no meaning here; CMAKE_CUDA_ARCHITECTURES chooses the processors.

set(SLIPWAY_CUDA AUTO CACHE STRING "CUDA and NCCL: AUTO (when found), ON (stop when something is missing), OFF")
set_property(CACHE SLIPWAY_CUDA PROPERTY STRINGS AUTO ON OFF)

# Sets SLIPWAY_NVCC and SLIPWAY_NVCC_VERSION ("13.0.88"); `problem` says what is wrong, else it is empty.
function(slipway_find_nvcc problem)
  set(root "${CUDAToolkit_ROOT}")
  if(NOT root)
    set(root "$ENV{CUDAToolkit_ROOT}")
  endif()
  if(root)
    set(looked "${root}/bin (CUDAToolkit_ROOT)")
    find_program(nvcc nvcc PATHS "${root}/bin" NO_DEFAULT_PATH NO_CACHE)
  else()
    set(looked "PATH, CUDA_HOME and /usr/local/cuda/bin")
    find_program(nvcc nvcc HINTS "$ENV{CUDA_HOME}/bin" PATHS /usr/local/cuda/bin NO_CACHE)
  endif()
  if(NOT nvcc)
    set(${problem} "no CUDA toolkit: nvcc is not in ${looked}; install CUDA 13, or give -DCUDAToolkit_ROOT=DIR" PARENT_SCOPE)
    return()
  endif()
  execute_process(COMMAND "${nvcc}" --version OUTPUT_VARIABLE text ERROR_VARIABLE text RESULT_VARIABLE failed)
  if(failed OR NOT text MATCHES ", V([0-9.]+)")
    set(${problem} "${nvcc} --version does not work (${failed}); mend the toolkit, or give -DCUDAToolkit_ROOT=DIR" PARENT_SCOPE)
    return()
  endif()
  set(SLIPWAY_NVCC "${nvcc}" PARENT_SCOPE)
  set(SLIPWAY_NVCC_VERSION "${CMAKE_MATCH_1}" PARENT_SCOPE)
endfunction()

# Sets SLIPWAY_NCCL_INCLUDE, SLIPWAY_NCCL_LIBRARY and SLIPWAY_NCCL_VERSION.
function(slipway_find_nccl problem)
  cmake_path(GET SLIPWAY_NVCC PARENT_PATH bin)
  set(roots "${NCCL_ROOT}" "${bin}/.." "${SLIPWAY_TORCH_ROOT}/../nvidia/nccl")
  find_path(include nccl.h HINTS ${roots} PATH_SUFFIXES include NO_CACHE)
  find_library(library NAMES nccl libnccl.so.2 HINTS ${roots} PATH_SUFFIXES lib lib64 NO_CACHE)
  if(NOT include OR NOT library)
    set(${problem} "no NCCL: nccl.h or libnccl.so is not in ${bin}/.. or the system's folders; install NCCL 2, or give -DNCCL_ROOT=DIR"
        PARENT_SCOPE)
    return()
  endif()
  file(STRINGS "${include}/nccl.h" lines REGEX "^#define NCCL_(MAJOR|MINOR|PATCH) ")
  string(REGEX REPLACE "[^0-9;]" "" lines "${lines}")
  list(JOIN lines "." version)
  set(SLIPWAY_NCCL_INCLUDE "${include}" PARENT_SCOPE)
  set(SLIPWAY_NCCL_LIBRARY "${library}" PARENT_SCOPE)
  set(SLIPWAY_NCCL_VERSION "${version}" PARENT_SCOPE)
endfunction()

# Whether libtorch_cuda has NCCL inside. Reads a symbol table of 300 MB, so the answer is kept with the path.
function(slipway_torch_has_nccl library result)
  if(NOT SLIPWAY_TORCH_NCCL_CHECKED STREQUAL library)
    execute_process(COMMAND "${CMAKE_NM}" -D --defined-only "${library}" COMMAND grep -c -m 1 ProcessGroupNCCLC
                    OUTPUT_VARIABLE count ERROR_QUIET)
    string(STRIP "${count}" count)
    set(SLIPWAY_TORCH_NCCL_CHECKED "${library}" CACHE INTERNAL "")
    set(SLIPWAY_TORCH_NCCL_FOUND "${count}" CACHE INTERNAL "")
  endif()
  set(${result} "${SLIPWAY_TORCH_NCCL_FOUND}" PARENT_SCOPE)
endfunction()

# Whether LibTorch was built with CUDA and NCCL, and with a CUDA of the toolkit's major version.
function(slipway_check_torch_cuda problem)
  set(advice "give another LibTorch: -DCMAKE_PREFIX_PATH=DIR")
  foreach(file lib/libtorch_cuda.so lib/libc10_cuda.so include/c10/cuda/CUDAStream.h)
    if(NOT EXISTS "${SLIPWAY_TORCH_ROOT}/${file}")
      set(${problem} "LibTorch ${SLIPWAY_TORCH_BUILD} at ${SLIPWAY_TORCH_ROOT} is without CUDA (no ${file}); ${advice}" PARENT_SCOPE)
      return()
    endif()
  endforeach()
  slipway_torch_has_nccl("${SLIPWAY_TORCH_ROOT}/lib/libtorch_cuda.so" has_nccl)
  if(NOT has_nccl)
    set(${problem} "LibTorch ${SLIPWAY_TORCH_BUILD} at ${SLIPWAY_TORCH_ROOT} is without NCCL; ${advice}" PARENT_SCOPE)
    return()
  endif()
  string(REGEX MATCH "^[0-9]+" major "${SLIPWAY_NVCC_VERSION}")
  if(SLIPWAY_TORCH_BUILD MATCHES "\\+cu([0-9]+)[0-9]$" AND NOT CMAKE_MATCH_1 EQUAL major)
    set(${problem} "LibTorch ${SLIPWAY_TORCH_BUILD} wants CUDA ${CMAKE_MATCH_1}, ${SLIPWAY_NVCC} is ${SLIPWAY_NVCC_VERSION}; give a toolkit of that version: -DCUDAToolkit_ROOT=DIR"
        PARENT_SCOPE)
  endif()
endfunction()

# Whether CMake can compile with this nvcc; enables the language in the caller when it can.
macro(slipway_enable_cuda problem)
  set(CMAKE_CUDA_STANDARD 17) # CMake 3.25 knows no newer one for nvcc 13
  set(CMAKE_CUDA_STANDARD_REQUIRED ON)
  set(CMAKE_CUDA_RUNTIME_LIBRARY Shared) # the copy that LibTorch uses
  if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES)
    set(CMAKE_CUDA_ARCHITECTURES "80-real;90-real;100-real;120" CACHE STRING "GPU architectures, as CMake spells them")
  endif()
  if(NOT CMAKE_CUDA_COMPILER)
    set(ENV{CUDACXX} "${SLIPWAY_NVCC}")
  endif()
  include(CheckLanguage)
  check_language(CUDA)
  if(CMAKE_CUDA_COMPILER)
    enable_language(CUDA)
    find_package(CUDAToolkit REQUIRED)
    if(CMAKE_CXX_COMPILER_LAUNCHER AND NOT CMAKE_CUDA_COMPILER_LAUNCHER)
      set(CMAKE_CUDA_COMPILER_LAUNCHER ${CMAKE_CXX_COMPILER_LAUNCHER})
    endif()
  else()
    set(${problem} "${SLIPWAY_NVCC} does not compile a test program with ${CMAKE_CXX_COMPILER} as its host compiler; see ${CMAKE_BINARY_DIR}/CMakeFiles/CMakeError.log")
  endif()
endmacro()

# ---- the decision ----------------------------------------------------------------------------------------------------
string(TOUPPER "${SLIPWAY_CUDA}" slipway_cuda_wish)
set(slipway_cuda_problem "")
if(slipway_cuda_wish STREQUAL "OFF")
  set(slipway_cuda_problem "switched off by -DSLIPWAY_CUDA=OFF")
elseif(NOT slipway_cuda_wish MATCHES "^(AUTO|ON)$")
  message(FATAL_ERROR "SLIPWAY_CUDA is '${SLIPWAY_CUDA}'; it may be AUTO, ON or OFF.")
endif()
foreach(check slipway_find_nvcc slipway_find_nccl slipway_check_torch_cuda slipway_enable_cuda)
  if(NOT slipway_cuda_problem)
    cmake_language(CALL ${check} slipway_cuda_problem)
  endif()
endforeach()

if(slipway_cuda_problem)
  if(slipway_cuda_wish STREQUAL "ON")
    message(FATAL_ERROR "SLIPWAY_CUDA=ON, but ${slipway_cuda_problem}. Or build without CUDA: -DSLIPWAY_CUDA=OFF (or AUTO).")
  endif()
  set(SLIPWAY_HAS_CUDA FALSE)
  set(SLIPWAY_CUDA_SUMMARY "off: ${slipway_cuda_problem}")
else()
  set(SLIPWAY_HAS_CUDA TRUE)
  set(SLIPWAY_CUDA_SUMMARY "on: toolkit ${SLIPWAY_NVCC_VERSION} (${SLIPWAY_NVCC}), NCCL ${SLIPWAY_NCCL_VERSION}")
  add_library(slipway_torch_cuda INTERFACE)
  target_include_directories(slipway_torch_cuda SYSTEM INTERFACE ${CUDAToolkit_INCLUDE_DIRS} "${SLIPWAY_NCCL_INCLUDE}")
  target_link_libraries(
    slipway_torch_cuda INTERFACE slipway_torch "${SLIPWAY_TORCH_ROOT}/lib/libtorch_cuda.so"
                                 "${SLIPWAY_TORCH_ROOT}/lib/libc10_cuda.so" "${SLIPWAY_NCCL_LIBRARY}" CUDA::cudart)
endif()

# slipway_cuda_library(NAME SOURCES a.cu...)
# Makes the static library NAME of kernels, rounded like the CPU's: no fused multiply-add unless written, exact division
# and root.
function(slipway_cuda_library name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;DEPS")
  slipway_no_rest("slipway_cuda_library(${name})" "${arg_UNPARSED_ARGUMENTS}")
  add_library(${name} STATIC ${arg_SOURCES})
  target_include_directories(${name} PUBLIC "${PROJECT_SOURCE_DIR}")
  target_compile_options(${name} PRIVATE --fmad=false --prec-div=true --prec-sqrt=true
                                         -Xcompiler=-fPIC,-fvisibility=hidden,-Wall,-Wextra --Werror=all-warnings)
  target_link_libraries(${name} PUBLIC ${arg_DEPS} CUDA::cudart)
endfunction()
