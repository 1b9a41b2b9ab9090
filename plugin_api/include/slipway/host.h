/* What the host offers a plugin, and what a plugin offers the host: the one exported symbol. */
#ifndef SLIPWAY_HOST_H_
#define SLIPWAY_HOST_H_

#include <slipway/base.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { SLW_LOG_DEBUG = 0, SLW_LOG_INFO = 1, SLW_LOG_WARNING = 2, SLW_LOG_ERROR = 3 };

/* Given to `init` (valid during the call only) and to every instance at `create` (valid until that instance is
 * destroyed). Services belong to the instance's host: two ranks may live in one process. */
typedef struct slw_host slw_host;
struct slw_host {
  uint32_t struct_size;
  uint16_t abi_major, abi_minor;
  void* impl;
  const char* name; /* "slipway" */
  const char* version;
  /* The table of a service ("slw.comm/1"), or NULL when this host does not offer it. [any] */
  const void* (*get_service)(const slw_host*, const char* id);
  /* One line of text, without newline. [any] */
  void (*log)(const slw_host*, int32_t level, const char* message);
  /* Nonzero if a message of this level would be kept. [any] */
  int32_t (*log_enabled)(const slw_host*, int32_t level);
  /* Nonzero when the run is asked to stop: long calls return SLW_CANCELLED. [any] */
  int32_t (*stop_requested)(const slw_host*);
  /* Memory that the host counts; 64-byte aligned; NULL and `error` filled on failure. [any] */
  void* (*alloc)(const slw_host*, slw_device, uint64_t bytes, const slw_stream*, slw_error*);
  void (*free)(const slw_host*, slw_device, void*, const slw_stream*);
};

/* One provider inside a plugin. */
typedef struct slw_component {
  uint32_t struct_size, flags;
  const char* kind; /* "slw.model/1" "slw.dataset/1" "slw.optimizer/1" "slw.dp/1" "slw.tokenizer/1" */
  const char* name; /* what the manifest's "use" says; unique inside the plugin */
  const char* summary;
  const slw_option* const* options;
  uint32_t num_options;
  uint32_t state_version; /* of what it stores in checkpoints */
  const void* vtable;     /* the struct that `kind` names */
} slw_component;

typedef struct slw_plugin {
  uint32_t struct_size;
  uint16_t abi_major, abi_minor;     /* of the headers it was built with */
  uint16_t min_host_minor, reserved; /* what it needs at least; used once MAJOR is 1 */
  uint32_t num_components;
  const slw_component* const* components;
  const char* id; /* reverse domain name, "org.example.bigram" */
  const char* version;
  const char* vendor;
  const char* url;
  const char* license;
  slw_status (*init)(const slw_host*, slw_error*); /* may be NULL [once] */
  void (*deinit)(void);                            /* may be NULL; nothing of the plugin runs afterwards [once] */
} slw_plugin;

/* THE entry: a const data symbol with the ABI's major in its name. It is looked for in the file, and its first four
 * integers are read there, before the library is loaded. Libraries are never unloaded. */
extern SLW_EXPORT const slw_plugin slw_plugin_v0;

/* Optional second symbol, a char array of JSON text that the host reads before loading: what the plugin needs of its
 * surroundings, {"libtorch": "2.11.0+cu130"}: the exact LibTorch build. */
extern SLW_EXPORT const char slw_plugin_requires_v0[];

#ifdef __cplusplus
}
#endif
#endif /* SLIPWAY_HOST_H_ */
