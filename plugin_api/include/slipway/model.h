/* Models, "slw.model/1": a table of parameters, and forward/backward over slots.
 *
 * The core owns parameters, gradients, order, communication and the scale of losses; the model owns its arithmetic. One
 * instance serves all pipeline stages (chunks) of its rank. `create, describe, declare, io_spec, cost` are offline:
 * they depend on their arguments alone. Live work begins in `bind`.
 */
#ifndef SLIPWAY_MODEL_H_
#define SLIPWAY_MODEL_H_

#include <slipway/host.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SLW_KIND_MODEL "slw.model/1"

/* ---- the run ---------------------------------------------------------------------------------------------------- */

enum {
  SLW_RUN_OFFLINE = 1u << 16, /* planning: no device, no comm service */
  SLW_RUN_SEQUENCE_PARALLEL = 1u << 0,
  SLW_RUN_DETERMINISTIC = 1u << 17
};
typedef struct slw_run_info { /* filled by the host; ranks are 0 and may be meaningless offline */
  uint32_t struct_size, flags;
  int32_t tp_size, tp_rank, pp_size, pp_rank, cp_size, cp_rank, ep_size, ep_rank, dp_size, dp_rank;
  int32_t etp_size, etp_rank, edp_size, edp_rank, vpp_size, reserved;
  int64_t seq_length, micro_batch_size;
  int64_t vocab_size, padded_vocab_size; /* ids >= vocab_size never occur; their logits have to be masked */
  slw_dtype param_dtype, grad_dtype;
  slw_device device;
  uint64_t seed;
  const char* run_json; /* the resolved manifest, read only */
} slw_run_info;

/* One pipeline chunk. `declare`, `io_spec` and `cost` depend on this and never on run_info's ranks. */
typedef struct slw_stage {
  uint32_t struct_size;
  int32_t vp_stage, vp_size;         /* chunk on its rank, chunks per rank */
  int32_t pre_process, post_process; /* holds the embedding; holds the head and the losses */
  int32_t layer_begin, layer_end;    /* [begin, end) of the model's layers */
} slw_stage;

/* ---- what the core must know before it can plan ------------------------------------------------------------------ */

enum { /* slw_model_info.flags: what the model can do; a layout that needs a missing bit is refused before it starts */
       SLW_MODEL_TP = 1u << 0,
       SLW_MODEL_SP = 1u << 1,
       SLW_MODEL_PP = 1u << 2,
       SLW_MODEL_CP_ZIGZAG = 1u << 3,
       SLW_MODEL_EP = 1u << 4,
       SLW_MODEL_ETP = 1u << 5,
       SLW_MODEL_ACQUIRES = 1u << 6, /* calls param_acquire before each parameter's first use in every forward */
       SLW_MODEL_LOGITS = 1u << 7,   /* fills slw_forward_args.logits */
       SLW_MODEL_BF16 = 1u << 8,
       SLW_MODEL_FP16 = 1u << 9,
       SLW_MODEL_CUDA = 1u << 10,
       SLW_MODEL_VAR_SEQ = 1u << 11,
       SLW_MODEL_INVARIANT_RNG = 1u << 12 /* its dropout follows slipway/philox.h (or it has none) */
};

/* What a loss is divided by. The core counts on the host, over dp x cp and all microbatches, before the step. */
enum {
  SLW_NORM_FIELD = 0,  /* the sum of the batch field `norm_field` */
  SLW_NORM_TOKENS = 1, /* batch x sequence */
  SLW_NORM_SAMPLES = 2,
  SLW_NORM_MICROBATCH = 3, /* the number of microbatches */
  SLW_NORM_OUTPUT = 4      /* loss_counts, known only after forward: legal only as the single loss */
};
enum { SLW_LOSS_INJECTED = 1u << 0 }; /* its gradient is added inside the graph; never part of the logged total */
typedef struct slw_loss_decl {
  uint32_t struct_size, flags;
  const char* name; /* as logged: "lm loss" */
  int32_t norm, reserved;
  const char* norm_field; /* for SLW_NORM_FIELD */
  double weight;          /* 0 means 1 */
} slw_loss_decl;

typedef struct slw_model_info {
  uint32_t struct_size, flags;            /* SLW_MODEL_* */
  int64_t num_layers;                     /* what pipeline stages are cut from */
  int64_t min_vocab_size, max_seq_length; /* 0: any */
  uint32_t num_losses, table_version;     /* version of the parameter table, stored in checkpoints */
  const slw_loss_decl* const* losses;     /* valid until destroy */
} slw_model_info;

/* ---- the parameter table ------------------------------------------------------------------------------------------
 */

enum { /* slw_param_decl.flags */
       SLW_PARAM_NO_WEIGHT_DECAY = 1u << 0,
       SLW_PARAM_EXPERT = 1u << 1,
       SLW_PARAM_MATRIX = 1u << 2, /* a hidden 2-D weight */
       SLW_PARAM_EMBEDDING = 1u << 3,
       SLW_PARAM_OUTPUT = 1u << 4,
       SLW_PARAM_FROZEN = 1u << 5,
       SLW_PARAM_BUFFER = 1u << 6 /* state without gradient or optimizer: bound, stored, never sharded over dp */
};
enum { /* init rule; the core draws from slipway/philox.h by name and global index */
       SLW_INIT_ZEROS = 0,
       SLW_INIT_ONES = 1,
       SLW_INIT_CONSTANT = 2, /* init_a */
       SLW_INIT_NORMAL = 3,   /* mean init_a, standard deviation init_b */
       SLW_INIT_UNIFORM = 4,  /* [init_a, init_b) */
       SLW_INIT_CUSTOM = 5    /* init_param */
};
typedef struct slw_cut {
  uint32_t struct_size;
  int32_t dim;
  const char* group; /* "tp" "etp" "ep"; outermost first when one dim is cut twice */
  int64_t parts;     /* 0 or 1: the whole dim; 2: gate|up, each part is cut by itself */
} slw_cut;
typedef struct slw_block {
  uint32_t struct_size, reserved;
  const char* name;
  int64_t rows;
} slw_block;
typedef struct slw_param_decl {
  uint32_t struct_size, flags;
  const char* name; /* the same for every layout: "decoder.layers.7.mlp.linear_fc1.weight" */
  slw_dtype dtype;  /* {0,0,0}: the run's parameter dtype */
  int32_t ndim;
  const int64_t* global_shape; /* logical, without vocabulary padding */
  const int64_t* padded_shape; /* NULL: as global. The tail is zero: not drawn, decayed, counted or stored */
  uint32_t num_cuts, num_blocks;
  const slw_cut* const* cuts;
  const slw_block* const* blocks; /* rows = block_repeat x (blocks[0].rows + ...): q|k|v of each query group */
  int64_t block_repeat;
  const char* grad_sum_group; /* NULL, or a group over which gradients are partial ("tp") */
  const char* tie;            /* same string = one parameter; only then may a name stand twice */
  const char* unit;           /* gather unit; a tie is always a unit of its own */
  const char* stack;          /* same string, shape, dtype: back to back in declare order */
  int32_t init, expert_index;
  double init_a, init_b;
  int32_t expert_count, reserved;
  double lr_mult, wd_mult; /* 0 means 1; zero is said by flags */
  uint32_t num_former_names, reserved2;
  const char* const* former_names;
} slw_param_decl;

typedef struct slw_param_sink {
  uint32_t struct_size, reserved;
  void* impl;
  /* Index of the parameter within this stage, in order of calls. The host copies the declaration. */
  slw_status (*add)(struct slw_param_sink*, const slw_param_decl*, int32_t* index_out, slw_error*);
  /* A metric this stage deposits through slw.metrics/1: `length` values, reduced over `group` by SLW_METRIC_*. */
  slw_status (*metric)(struct slw_param_sink*, const char* name, int32_t length, int32_t reduce, const char* group,
                       slw_error*);
} slw_param_sink;

enum {                                 /* slw_io_args.flags of `cost` */
       SLW_COST_FORWARD_COMM = 1u << 0 /* the sink hears of forward's communication alone, as for a repeated forward */
};
typedef struct slw_io_args {
  uint32_t struct_size, flags;
  const slw_stage* stage;
  int64_t batch_size, seq_length; /* of one microbatch; seq_length before cp */
} slw_io_args;
typedef struct slw_io_sink {
  uint32_t struct_size, reserved;
  void* impl;
  /* An activation that enters (is_output 0) or leaves the stage, in order. */
  slw_status (*activation)(struct slw_io_sink*, int32_t is_output, slw_dtype, int32_t ndim, const int64_t* shape,
                           slw_error*);
  /* A batch field this stage reads: {0,0,0} as the dataset gives it; optional fields may be NULL in the batch. */
  slw_status (*batch_field)(struct slw_io_sink*, const char* name, slw_dtype want, int32_t required, slw_error*);
} slw_io_sink;

/* Of one microbatch on one rank of the stage. */
typedef struct slw_cost {
  uint32_t struct_size, reserved;
  double flops_forward, flops_backward;
  int64_t saved_bytes, workspace_bytes; /* live from forward to backward; peak beside it */
} slw_cost;
typedef struct slw_cost_sink {
  uint32_t struct_size, reserved;
  void* impl;
  /* `calls` of "all_reduce", "all_gather", ... over a group in forward and backward together; `bytes`: what this rank
   * hands in to all of them together. */
  slw_status (*comm)(struct slw_cost_sink*, const char* group, const char* op, int64_t calls, int64_t bytes,
                     slw_error*);
} slw_cost_sink;

/* ---- one step
 * -------------------------------------------------------------------------------------------------------- */

typedef struct slw_param_view { /* bound: valid from bind until unbind or destroy */
  uint32_t struct_size;
  int32_t index;
  slw_tensor data; /* parameter dtype; changes only between steps. With a backend that shards parameters data.data is
                      NULL and param_acquire gives the address; else it stays, and acquiring only waits */
  slw_tensor grad; /* add to it; usually fp32; data NULL for FROZEN and BUFFER */
} slw_param_view;
typedef struct slw_bind_args {
  uint32_t struct_size, flags;
  const slw_stage* stage;
  uint32_t num_params, reserved;
  const slw_param_view* const* params; /* by index */
} slw_bind_args;

/* Services of the host during one forward or backward. */
typedef struct slw_step_hooks {
  uint32_t struct_size, reserved;
  void* impl;
  /* The gradient of this backward is complete in stream order; once per declaration and backward; a parameter that is
   * never reported counts as ready when backward returns. [any] */
  slw_status (*grad_ready)(struct slw_step_hooks*, int32_t index, const slw_stream*, slw_error*);
  /* Gather on use: the parameter's address until release (and its gradient's, in backward). May block on the CPU. The
   * host releases what is outstanding when the call returns. [any] */
  slw_status (*param_acquire)(struct slw_step_hooks*, int32_t index, const slw_stream*, void** data, void** grad,
                              slw_error*);
  slw_status (*param_release)(struct slw_step_hooks*, int32_t index, const slw_stream*, slw_error*);
  /* rng=megatron only, else NULL: a range of a stream's Philox offsets; rewound on RECOMPUTE. [step] */
  slw_status (*rng_reserve)(struct slw_step_hooks*, const char* stream, uint64_t increments, uint64_t* seed,
                            uint64_t* offset, slw_error*);
} slw_step_hooks;

enum { /* slw_forward_args.flags */
       SLW_FWD_TRAIN = 1u << 0,
       SLW_FWD_NO_SAVE = 1u << 1,   /* no backward of this pass will come */
       SLW_FWD_RECOMPUTE = 1u << 2, /* repeats this slot's NO_SAVE pass: same numbers, no metrics, no counters */
       SLW_FWD_LAST_MICROBATCH = 1u << 16
};
typedef struct slw_batch {
  uint32_t struct_size, reserved;
  void* impl;
  /* A field this stage asked for in io_spec; NULL: not there. Valid until the slot's backward or discard returned. */
  const slw_tensor* (*get)(const struct slw_batch*, const char* field);
} slw_batch;

typedef struct slw_forward_args {
  uint32_t struct_size, flags;
  const slw_stage* stage;
  int32_t slot, microbatch; /* slot keys what the model keeps for backward, together with the stage */
  int64_t step;             /* from 0 */
  uint64_t weights_version; /* changes whenever the core wrote parameters */
  int64_t batch_size, seq_length;
  const int64_t* sample_ids; /* [batch_size]: ordinal since sample 0, the same in every layout */
  uint32_t num_seq_ranges, num_inputs;
  const slw_range* seq_ranges;     /* global positions held here; two for zigzag */
  const slw_tensor* const* inputs; /* unchanged until this slot's backward or discard returned */
  const slw_batch* batch;
  uint32_t num_outputs, num_losses;
  slw_tensor* const* outputs;   /* written; they belong to the host afterwards */
  slw_tensor* const* loss_sums; /* post_process: fp64 scalars in describe()'s order, written; NULL entry: not wanted */
  slw_tensor* const* loss_counts; /* fp64 scalars, written for SLW_NORM_OUTPUT */
  slw_tensor* logits;             /* NULL, or fp32 [batch, seq, vocab_size] to fill: gathered over tp, no padding */
  slw_stream stream;
  slw_step_hooks* hooks;
} slw_forward_args;

typedef struct slw_backward_args {
  uint32_t struct_size, flags;
  const slw_stage* stage;
  int32_t slot;
  uint32_t num_losses;
  uint32_t num_grads_out, num_grads_in;
  const slw_tensor* const* grads_out;  /* d total / d outputs */
  slw_tensor* const* grads_in;         /* d total / d inputs: written, not added to */
  const slw_tensor* const* loss_grads; /* fp64 scalars d total / d loss_sums[i], with weight, 1/denominator and loss
                                          scale in them; on EVERY stage */
  slw_stream stream;
  slw_step_hooks* hooks;
} slw_backward_args;

typedef struct slw_step_info {
  uint32_t struct_size, flags;
  int64_t step, consumed_samples, global_batch_size;
  int32_t num_microbatches, applied; /* applied 0: the update was skipped */
  uint64_t weights_version;
  slw_stream stream;
} slw_step_info;

typedef struct slw_model slw_model;
typedef struct slw_model_vtable {
  uint32_t struct_size, flags;
  /* config_json: this component's options, validated and complete. [offline] */
  slw_status (*create)(const slw_host*, const char* config_json, const slw_run_info*, slw_model** out, slw_error*);
  void (*destroy)(slw_model*);                                                                   /* [main] */
  slw_status (*describe)(slw_model*, slw_model_info* out, slw_error*);                           /* [offline] */
  slw_status (*declare)(slw_model*, const slw_stage*, slw_param_sink*, slw_error*);              /* [offline] */
  slw_status (*io_spec)(slw_model*, const slw_io_args*, slw_io_sink*, slw_error*);               /* [offline] */
  slw_status (*cost)(slw_model*, const slw_io_args*, slw_cost* out, slw_cost_sink*, slw_error*); /* or NULL [offline] */
  slw_status (*bind)(slw_model*, const slw_bind_args*, slw_error*);                              /* [main] */
  slw_status (*unbind)(slw_model*, const slw_stage*, slw_error*);                                /* or NULL    [main] */
  /* Fills the local part of a SLW_INIT_CUSTOM parameter; global_offset: where `local` begins, per dim. Or NULL. [main]
   */
  slw_status (*init_param)(slw_model*, int32_t index, slw_tensor* local, const int64_t* global_offset, uint64_t key,
                           slw_error*);
  slw_status (*step_begin)(slw_model*, const slw_step_info*, slw_error*);   /* or NULL                       [step] */
  slw_status (*forward)(slw_model*, const slw_forward_args*, slw_error*);   /* [step; collective: tp cp ep]         */
  slw_status (*backward)(slw_model*, const slw_backward_args*, slw_error*); /* [step; collective: tp cp ep]       */
  void (*discard)(slw_model*, const slw_stage*, int32_t slot); /* drops what the slot keeps                [step] */
  /* After the optimizer, before a checkpoint; moves non-trained state; not at all on a skipped step. Or NULL. [step] */
  slw_status (*step_end)(slw_model*, const slw_step_info*, slw_error*);
} slw_model_vtable;

#ifdef __cplusplus
}
#endif
#endif /* SLIPWAY_MODEL_H_ */
