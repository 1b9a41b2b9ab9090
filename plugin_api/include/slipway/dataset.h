/* Datasets, "slw.dataset/1": one instance is one source and one split, with samples 0..size-1 in its planned order. The
 * core blends, samples, slices over dp and cp, prefetches and resumes: the state of a dataset is a count of samples. */
#ifndef SLIPWAY_DATASET_H_
#define SLIPWAY_DATASET_H_

#include <slipway/host.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SLW_KIND_DATASET "slw.dataset/1"
enum { SLW_SPLIT_TRAIN = 0, SLW_SPLIT_VALID = 1, SLW_SPLIT_TEST = 2 };
enum {                                 /* slw_dataset_vtable.flags */
       SLW_DS_THREAD_SAFE = 1u << 0,   /* `get` may run on several threads at once */
       SLW_DS_NEEDS_PREPARE = 1u << 2, /* `prepare` builds caches: one rank per node, before the others build */
       SLW_DS_ORDERED = 1u << 3        /* index order IS the training order (own epochs, own shuffle) */
};

typedef struct slw_dataset_args { /* for create */
  uint32_t struct_size, flags;
  int64_t seq_length;
  uint64_t seed;
  const char* cache_dir; /* a folder this node may write to, or NULL */
} slw_dataset_args;

typedef struct slw_build_args {
  uint32_t struct_size, flags;
  int32_t split, reserved;
  double split_begin, split_end; /* the split's part of the source, fractions of 1 */
  int64_t num_samples;           /* how many the schedule will draw */
} slw_build_args;

typedef struct slw_dataset_info {
  uint32_t struct_size, flags;
  int64_t size;       /* samples; -1 before build */
  int64_t vocab_size; /* ids are in [0, vocab_size); known from create on */
  int64_t eod_id;     /* -1: none */
  int64_t tokens_per_epoch;
  const char* tokenizer; /* name of the tokenizer whose ids these are ("byte"), valid until destroy; NULL: unknown */
} slw_dataset_info;

enum { SLW_FIELD_WHOLE_BATCH = 1u << 0 }; /* no leading batch dimension (packed rows, cu_seqlens) */
typedef struct slw_field {
  uint32_t struct_size, flags;
  const char* name; /* tokens labels loss_mask position_ids ... */
  slw_dtype dtype;
  int32_t ndim;
  const int64_t* shape;                    /* of one sample; -1: per batch, see batch_shape */
  int32_t seq_dim_plus_1, seq_dim2_plus_1; /* 0: not cut by cp */
} slw_field;
typedef struct slw_field_sink {
  uint32_t struct_size, reserved;
  void* impl;
  slw_status (*add)(struct slw_field_sink*, const slw_field*, slw_error*);
} slw_field_sink;

typedef struct slw_get_args {
  uint32_t struct_size, flags;
  const int64_t* indices;
  int64_t n;
  uint32_t num_fields, num_dims;
  slw_tensor* const* outs; /* [n, shape...] per field, in host memory, contiguous; NULL entry: not wanted */
  int64_t* dims;           /* batch_shape: one per -1, in declare order */
} slw_get_args;

typedef struct slw_dataset slw_dataset;
typedef struct slw_dataset_vtable {
  uint32_t struct_size, flags;
  /* Cheap: checks options and that files exist; enough for `info`'s vocab_size. [main] */
  slw_status (*create)(const slw_host*, const char* config_json, const slw_dataset_args*, slw_dataset** out,
                       slw_error*);
  void (*destroy)(slw_dataset*);                                          /* [main], no `get` in flight */
  slw_status (*info)(slw_dataset*, slw_dataset_info* out, slw_error*);    /* [any] */
  slw_status (*fields)(slw_dataset*, slw_field_sink*, slw_error*);        /* [main] */
  slw_status (*prepare)(slw_dataset*, const slw_build_args*, slw_error*); /* NULL unless NEEDS_PREPARE       [main] */
  slw_status (*build)(slw_dataset*, const slw_build_args*, slw_error*);   /* once, on every rank             [main] */
  /* A whole batch: outs[f][i] = field f of sample indices[i]. The same indices give the same bytes. Never calls
   * collectives. [worker] */
  slw_status (*get)(slw_dataset*, const slw_get_args*, slw_error*);
  slw_status (*batch_shape)(slw_dataset*, const slw_get_args*, slw_error*); /* NULL without -1 dims         [worker] */
  /* JSON text: where sample `index` comes from (source, document, offset, length). Or NULL. [worker] */
  slw_status (*describe_sample)(slw_dataset*, int64_t index, char* json, uint64_t capacity, uint64_t* needed,
                                slw_error*);
  /* A text that changes when the data does; stored in checkpoints and compared on resume. Or NULL. [main] */
  slw_status (*fingerprint)(slw_dataset*, char* text, uint64_t capacity, uint64_t* needed, slw_error*);
} slw_dataset_vtable;

#ifdef __cplusplus
}
#endif
#endif /* SLIPWAY_DATASET_H_ */
