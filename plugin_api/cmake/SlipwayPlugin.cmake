# How a Slipway plugin is built, in Slipway's own tree and outside it (find_package(slipway)).

set(SLIPWAY_PLUGIN_MAP "${CMAKE_CURRENT_LIST_DIR}/slipway_plugin.map")

# slipway_add_plugin(NAME SOURCES a.c b.cpp... [DEPS targets...] [TORCH])
# Makes the target slipway_plugin_NAME: lib/slipway/plugins/libslipway_NAME.so in the build tree, installed to the same
# place below the prefix. It exports nothing but the entry symbol and may leave nothing undefined. TORCH links LibTorch;
# at run time the copy that the worker has loaded is used, so the plugin carries no path to one.
function(slipway_add_plugin name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "TORCH" "" "SOURCES;DEPS")
  if(arg_UNPARSED_ARGUMENTS OR NOT arg_SOURCES)
    message(FATAL_ERROR "slipway_add_plugin(${name}): wants SOURCES, knows DEPS and TORCH; got: ${ARGN}")
  endif()
  set(target slipway_plugin_${name})
  add_library(${target} MODULE ${arg_SOURCES})
  target_link_libraries(${target} PRIVATE slipway::plugin_api ${arg_DEPS})
  slipway_plugin_border(${target} ${name})
  if(COMMAND slipway_own_code)
    slipway_own_code(${target} "${arg_TORCH}")
  elseif(arg_TORCH)
    if(NOT TARGET slipway::torch)
      message(FATAL_ERROR "slipway_add_plugin(${name} TORCH): this needs find_package(slipway COMPONENTS torch).")
    endif()
    target_link_libraries(${target} PRIVATE slipway::torch)
  endif()
  install(TARGETS ${target} LIBRARY DESTINATION lib/slipway/plugins)
endfunction()

# Name and place of the shared object, and what it shows to the outside.
function(slipway_plugin_border target name)
  set_target_properties(
    ${target}
    PROPERTIES PREFIX lib
               OUTPUT_NAME slipway_${name}
               DEFINE_SYMBOL ""
               LIBRARY_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/lib/slipway/plugins"
               C_VISIBILITY_PRESET hidden
               CXX_VISIBILITY_PRESET hidden
               VISIBILITY_INLINES_HIDDEN ON
               BUILD_WITH_INSTALL_RPATH ON
               INSTALL_RPATH ""
               INSTALL_RPATH_USE_LINK_PATH OFF
               LINK_DEPENDS "${SLIPWAY_PLUGIN_MAP}")
  target_compile_options(${target} PRIVATE $<$<AND:$<COMPILE_LANGUAGE:CXX>,$<CXX_COMPILER_ID:GNU>>:-fno-gnu-unique>)
  target_link_options(${target} PRIVATE "-Wl,--version-script=${SLIPWAY_PLUGIN_MAP}" -Wl,-z,defs)
endfunction()
