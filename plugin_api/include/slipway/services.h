/* Services of the host, found by id through host->get_service. A service that a host lacks is NULL; a plugin that
 * cannot work without one refuses in `create` (or, for comm, in `bind`/`attach`: it is absent offline). */
#ifndef SLIPWAY_SERVICES_H_
#define SLIPWAY_SERVICES_H_

#include <slipway/host.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- slw.comm/1: collectives over the run's process groups --------------------------------------------------- */

#define SLW_SERVICE_COMM "slw.comm/1"
typedef struct slw_group slw_group; /* opaque, owned by the host, valid as long as the instance's host */
typedef struct slw_work slw_work;   /* opaque; whoever gets one releases it */
enum { SLW_SUM = 0, SLW_AVG = 1, SLW_MAX = 2, SLW_MIN = 3 };

/* Enqueueing is [any]; the host takes one lock per group. The order of calls is the contract: all ranks of a group make
 * the same calls in the same order. With `work` NULL the call is complete on return (CPU) or in stream order (CUDA).
 * Otherwise the tensors must live and stay untouched until work_wait returned. Peers and roots are ranks in the group.
 * Tensors are contiguous. `out` of reduce_scatter may be this rank's part of `in`, whose other parts then hold nothing
 * of use, and `in` of all_gather this rank's part of `out`: nothing is copied. Tensors overlap in no other way. A
 * failed call returns SLW_COMM and no further call of this run will succeed. */
typedef struct slw_comm {
  uint32_t struct_size, reserved;
  /* Groups by name: world dp dp_cp dp_cp_intra dp_cp_inter tp pp cp ep etp edp edp_intra edp_inter tp_cp tp_dp tp_dp_cp
   * tp_pp tp_ep tp_ep_pp embd pos_embd. NULL: no such name. A group of one rank is real and local. [any] */
  const slw_group* (*group)(const slw_host*, const char* name);
  int32_t (*rank)(const slw_group*);                /* [any] */
  int32_t (*size)(const slw_group*);                /* [any] */
  const int32_t* (*global_ranks)(const slw_group*); /* `size` of them [any] */
  /* [any; collective: the group], also for all that follow down to barrier */
  slw_status (*all_reduce)(const slw_group*, slw_tensor* inout, int32_t op, const slw_stream*, slw_work**, slw_error*);
  slw_status (*all_gather)(const slw_group*, const slw_tensor* in, slw_tensor* out, const slw_stream*, slw_work**,
                           slw_error*);
  slw_status (*reduce_scatter)(const slw_group*, const slw_tensor* in, slw_tensor* out, int32_t op, const slw_stream*,
                               slw_work**, slw_error*);
  slw_status (*all_to_all)(const slw_group*, const slw_tensor* in, const int64_t* in_rows, slw_tensor* out,
                           const int64_t* out_rows, const slw_stream*, slw_work**, slw_error*);
  slw_status (*broadcast)(const slw_group*, slw_tensor* inout, int32_t root, const slw_stream*, slw_work**, slw_error*);
  slw_status (*send)(const slw_group*, const slw_tensor*, int32_t peer, const slw_stream*, slw_work**, slw_error*);
  slw_status (*recv)(const slw_group*, slw_tensor*, int32_t peer, const slw_stream*, slw_work**, slw_error*);
  slw_status (*coalesce_begin)(const slw_group*, slw_error*);
  slw_status (*coalesce_end)(const slw_group*, const slw_stream*, slw_work**, slw_error*);
  slw_status (*barrier)(const slw_group*, slw_error*);
  slw_status (*work_wait)(slw_work*, const slw_stream*,
                          slw_error*); /* CUDA: the stream waits, the CPU does not [any] */
  void (*work_release)(slw_work*);     /* [any] */
} slw_comm;

/* ---- slw.rng/1: keys for slipway/philox.h ---------------------------------------------------------------------- */

#define SLW_SERVICE_RNG "slw.rng/1"
typedef struct slw_rng {
  uint32_t struct_size, reserved;
  /* The Philox key of (run seed, purpose, name): slw_philox_key with the run's seed. [any] */
  uint64_t (*key)(const slw_host*, const char* purpose, const char* name);
} slw_rng;

/* ---- slw.metrics/1: numbers for the log ------------------------------------------------------------------------ */

#define SLW_SERVICE_METRICS "slw.metrics/1"
enum { SLW_METRIC_LAST = 0, SLW_METRIC_MEAN = 1, SLW_METRIC_SUM = 2, SLW_METRIC_MAX = 3, SLW_METRIC_RATIO = 4 };
typedef struct slw_metrics {
  uint32_t struct_size, reserved;
  /* Adds fp64 values to a metric that the component declared (slw_param_sink.metric). The host combines the deposits of
   * all microbatches and, once a step, of all ranks of the metric's group. RATIO: values are numerator, denominator.
   * An unknown name or a wrong count is SLW_INVALID_ARGUMENT. [step] */
  slw_status (*deposit)(const slw_host*, const char* name, const double* values, int32_t count, slw_error*);
} slw_metrics;

/* ---- slw.threads/1: the rank's compute threads ------------------------------------------------------------------ */

#define SLW_SERVICE_THREADS "slw.threads/1"
typedef struct slw_threads {
  uint32_t struct_size, reserved;
  /* How many threads parallel_for may use; the same in every call of a run. [any] */
  int32_t (*count)(const slw_host*);
  /* Calls body(context, b, e) for parts [b, e) that cover [0, n), each part at least `grain` long but the last, perhaps
   * at once on several threads; returns when all are done. The cut depends on n, grain and count() only. The body must
   * not call the host. [step] */
  void (*parallel_for)(const slw_host*, int64_t n, int64_t grain, void (*body)(void*, int64_t b, int64_t e),
                       void* context);
} slw_threads;

#ifdef __cplusplus
}
#endif
#endif /* SLIPWAY_SERVICES_H_ */
