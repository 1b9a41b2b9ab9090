/* The vocabulary of the plugin border: how structs grow, status codes, errors, tensors, options.
 *
 * C11 and C++20. Every struct that may grow starts with struct_size = size up to its last field (never sizeof), is only
 * ever appended to, and an all-zero field is its plain default. Only slw_tensor, slw_device, slw_dtype, slw_stream and
 * slw_range are frozen. Fields beyond a reader's own size must be zero, else the reader refuses the struct.
 * Flag bits 0-15 must be understood by the reader (unknown bit: SLW_UNSUPPORTED), bits 16-31 are hints.
 *
 * Thread tags, one on every function pointer of these headers:
 *   [once]    once per process, on the thread that loads plugins
 *   [offline] main thread, no device, no communication; the answer depends on the arguments only, never on the rank
 *   [main]    main thread of the rank, no other call on this instance in flight
 *   [step]    one thread at a time per instance, perhaps different threads over time
 *   [worker]  a data thread; several at once only if the component declares it is thread-safe
 *   [any]     any thread, at any time
 *   [collective: g] every rank of group g calls it, in the same order
 */
#ifndef SLIPWAY_BASE_H_
#define SLIPWAY_BASE_H_

#include <stddef.h>
#include <stdint.h>

/* While MAJOR is 0 a plugin loads only into a host of exactly its MINOR. */
#define SLW_ABI_MAJOR 0
#define SLW_ABI_MINOR 3

#if defined(_WIN32)
#define SLW_EXPORT __declspec(dllexport)
#else
#define SLW_EXPORT __attribute__((visibility("default")))
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* Size of T up to and including field f. sizeof(T) would swallow the next field in its tail padding. */
#define SLW_SIZE_TO(T, f) ((uint32_t)(offsetof(T, f) + sizeof(((T*)0)->f)))
/* Does the other side's struct reach field f? */
#define SLW_HAS(p, T, f) ((p) != NULL && (p)->struct_size >= SLW_SIZE_TO(T, f))
/* ... and is that function pointer set? */
#define SLW_HAS_FN(p, T, f) (SLW_HAS(p, T, f) && (p)->f != NULL)

/* ---- status and errors ------------------------------------------------------------------------------------- */

typedef int32_t slw_status; /* never a C enum across the border */
enum {
  SLW_OK = 0,
  SLW_CANCELLED = 1,
  SLW_INVALID_ARGUMENT = 2, /* the user's mistake: option, data, shape */
  SLW_UNSUPPORTED = 3,
  SLW_OUT_OF_MEMORY = 4,
  SLW_IO = 5,
  SLW_COMM = 6,
  SLW_NUMERIC = 7,
  SLW_PRECONDITION = 8, /* a call out of order */
  SLW_END_OF_DATA = 9,
  SLW_INTERNAL = 10
};

/* Owned by the caller, who sets struct_size, message and capacity. The callee writes at most `capacity` bytes, NUL
 * included, and sets `needed` to the full length + 1. A NULL slw_error* is legal everywhere. */
typedef struct slw_error {
  uint32_t struct_size;
  slw_status code;
  char* message;
  uint32_t capacity;
  uint32_t needed;
} slw_error;

/* ---- tensors ------------------------------------------------------------------------------------------------ */

enum { SLW_DEVICE_CPU = 1, SLW_DEVICE_CUDA = 2 };                                      /* as DLPack */
enum { SLW_CODE_INT = 0, SLW_CODE_UINT = 1, SLW_CODE_FLOAT = 2, SLW_CODE_BFLOAT = 4 }; /* as DLPack */

typedef struct {
  int32_t type, id;
} slw_device; /* FROZEN, = DLDevice */
typedef struct {
  uint8_t code, bits;
  uint16_t lanes;
} slw_dtype; /* FROZEN, = DLDataType; bf16 = {4,16,1} */

/* A view, laid out as DLTensor. Borrowed for the call unless the declaration says otherwise. */
typedef struct slw_tensor { /* FROZEN */
  void* data;
  slw_device device;
  int32_t ndim;
  slw_dtype dtype;
  int64_t* shape;
  int64_t* strides; /* in elements; not NULL when ndim > 0 */
  uint64_t byte_offset;
} slw_tensor;

typedef struct {
  slw_device device;
  void* native;
} slw_stream; /* FROZEN; cudaStream_t, NULL on the CPU */
typedef struct {
  int64_t begin, end;
} slw_range; /* FROZEN; [begin, end) */

/* ---- options ------------------------------------------------------------------------------------------------ */

enum { SLW_OPT_BOOL = 0, SLW_OPT_INT = 1, SLW_OPT_FLOAT = 2, SLW_OPT_STRING = 3, SLW_OPT_JSON = 4 };
enum { SLW_OPTION_PATH = 1u << 16 }; /* hint: a path, or a JSON list of paths: made absolute by the host */

/* One option of a component. The host checks type, range and choices and fills defaults before `create` sees them. */
typedef struct slw_option {
  uint32_t struct_size, flags;
  int32_t type, reserved;
  const char* name;         /* snake_case, as in the manifest */
  const char* default_json; /* JSON text; NULL: the user has to give it */
  const char* help;         /* one sentence: meaning, unit */
  const char* min_json;     /* NULL: no bound */
  const char* max_json;
  const char* const* choices; /* NULL-terminated strings, or NULL */
  const char* const* aliases; /* NULL-terminated, or NULL: "other-name", or "flag=value": a flag without a value that
                                 sets this option; one flag may stand in several rows */
} slw_option;

#ifdef __cplusplus
} /* extern "C" */
#endif
#endif /* SLIPWAY_BASE_H_ */
