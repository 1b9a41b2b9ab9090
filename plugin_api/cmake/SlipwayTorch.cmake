# Finds LibTorch and makes the target slipway_torch: its CPU part, headers as SYSTEM.
#
# Not through TorchConfig.cmake: that one asks for the whole CUDA toolkit of its build. The CPU part needs none, and a
# process without libtorch_cuda starts a second faster.
#
# Looked for in CMAKE_PREFIX_PATH (an unpacked LibTorch, or torch.utils.cmake_prefix_path), then in SLIPWAY_TORCH_HINTS.

find_path(SLIPWAY_TORCH_INCLUDE ATen/ATen.h HINTS ${SLIPWAY_TORCH_HINTS} PATH_SUFFIXES include ../../include)
if(NOT SLIPWAY_TORCH_INCLUDE)
  message(FATAL_ERROR "LibTorch not found. Run scripts/setup.sh, or give -DCMAKE_PREFIX_PATH=/path/to/libtorch.")
endif()
cmake_path(GET SLIPWAY_TORCH_INCLUDE PARENT_PATH SLIPWAY_TORCH_ROOT)

# The exact build, as in 2.11.0+cu130: a plugin made for another one is refused.
function(slipway_read_torch_build result)
  set(wheel "${SLIPWAY_TORCH_ROOT}/version.py")
  set(archive "${SLIPWAY_TORCH_ROOT}/build-version")
  if(EXISTS "${wheel}")
    file(STRINGS "${wheel}" build REGEX "^__version__ = ")
    string(REGEX REPLACE ".*'(.*)'.*" "\\1" build "${build}")
  elseif(EXISTS "${archive}")
    file(STRINGS "${archive}" build)
  else()
    message(FATAL_ERROR "LibTorch at ${SLIPWAY_TORCH_ROOT} has neither version.py nor build-version: which build is it?")
  endif()
  set(${result} "${build}" PARENT_SCOPE)
endfunction()

slipway_read_torch_build(SLIPWAY_TORCH_BUILD)
if(SLIPWAY_TORCH_BUILD VERSION_LESS 2.11)
  message(FATAL_ERROR "LibTorch ${SLIPWAY_TORCH_BUILD} at ${SLIPWAY_TORCH_ROOT} is too old; 2.11 is needed.")
endif()
message(STATUS "LibTorch ${SLIPWAY_TORCH_BUILD} at ${SLIPWAY_TORCH_ROOT}")

# The definitions are those of LibTorch's own build: class layouts hang on them. --no-as-needed: a program must list
# LibTorch itself for its plugins to find it, used or not.
add_library(slipway_torch INTERFACE)
add_library(slipway::torch ALIAS slipway_torch)
target_compile_definitions(slipway_torch INTERFACE USE_DISTRIBUTED USE_C10D_GLOO USE_RPC USE_TENSORPIPE
                                                   SLIPWAY_TORCH_BUILD="${SLIPWAY_TORCH_BUILD}")
target_compile_features(slipway_torch INTERFACE cxx_std_17)
target_include_directories(slipway_torch SYSTEM INTERFACE "${SLIPWAY_TORCH_INCLUDE}"
                                                          "${SLIPWAY_TORCH_INCLUDE}/torch/csrc/api/include")
target_link_libraries(slipway_torch INTERFACE "${SLIPWAY_TORCH_ROOT}/lib/libtorch_cpu.so"
                                              "${SLIPWAY_TORCH_ROOT}/lib/libc10.so")
target_link_options(slipway_torch INTERFACE -Wl,--no-as-needed)
