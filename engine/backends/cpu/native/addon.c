// The Node-API addon: picks the kernels for this CPU and runs stretches of calls on behalf of the WASM interpreter
// (engine/backends/cpu/assembly/interpreter.ts), on the same memory and with the same barrier. Node-API version 6 at most.

#include "arguments.h"
#include "kernels.h"
#include "plain_addon.h"
#include <node_api.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#if defined(__linux__)
#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

/** The layout of ../layout.ts, passed by the build so that it is declared once. */
#if !defined(CONTROL_FAILED) || !defined(CONTROL_ARRIVED) || !defined(CONTROL_PHASE) ||                                \
    !defined(CONTROL_SLEEPERS) || !defined(RECORD_HEADER_WORDS)
#error "compile with scripts/build-native.ts"
#endif
enum { DONE = 0, FAILED = 1, TIMEOUT = 2 };

/**
 * Loads before a waiting thread sleeps: some 50 µs. From the eager ones on (5 µs) it lets others go first every so often: where its core
 * is wanted, what it waits for may wait for that core, and where it is not, the system comes back at once.
 */
#define BARRIER_SPINS 2000
#define EAGER_SPINS 200
#define YIELD_EVERY 32

#if defined(__x86_64__)
extern const KernelTable table_avx2, table_avx512;
#define PAUSE() __builtin_ia32_pause()
static const KernelTable *pick_table(void) {
  // For tests and for comparing: TRAINYARD_NATIVE=avx2 keeps to that instruction set.
  const char *wish = getenv("TRAINYARD_NATIVE");
  const int narrow = wish && strcmp(wish, "avx2") == 0;
  __builtin_cpu_init();
  const int wide = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
                   __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw");
  if (wide && !narrow) return &table_avx512;
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return &table_avx2;
  return NULL;
}
#elif defined(__aarch64__)
extern const KernelTable table_neon;
#define PAUSE() __asm__ volatile("yield")
static const KernelTable *pick_table(void) { return &table_neon; }
#else
#define PAUSE() (void)0
static const KernelTable *pick_table(void) { return NULL; }
#endif

/** One attached thread: its view of the arena and its scratch memory. */
typedef struct {
  uint8_t *memory;
  float *scratch;
  double patience;
  int winograd;
  /** Native kernels by their number in call records; NULL = not native. */
  Kernel *kernels;
} Machine;

static int32_t *control(const Machine *machine, size_t address) { return (int32_t *)(machine->memory + address); }

/** A clock that stands still while the machine sleeps; Linux's monotonic one does, macOS's goes on. */
#if defined(__APPLE__)
#define AWAKE_CLOCK CLOCK_UPTIME_RAW
#else
#define AWAKE_CLOCK CLOCK_MONOTONIC
#endif

static double seconds(void) {
  struct timespec now;
  clock_gettime(AWAKE_CLOCK, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/** Seconds that a look at the clock may add to a wait at most: a process that was stopped has not waited. */
#define LONGEST_GLANCE 0.25

#if defined(__linux__)
/** Sleeps until the word changes, at most 0.1 s. */
static void sleep_on(int32_t *word, int32_t seen) {
  const struct timespec slice = {0, 100000000};
  syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, seen, &slice, NULL, 0);
}
static void wake_all(int32_t *word) { syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, INT32_MAX, NULL, NULL, 0); }
#else
static void sleep_on(int32_t *word, int32_t seen) { (void)word, (void)seen, sched_yield(); }
static void wake_all(int32_t *word) { (void)word; }
#endif

/** The interpreter's barrier, on the same words. All threads come here for the same call, so nobody sleeps in WASM. */
static int barrier(const Machine *machine, int threads) {
  int32_t *arrived = control(machine, CONTROL_ARRIVED), *phase_word = control(machine, CONTROL_PHASE);
  int32_t *sleepers = control(machine, CONTROL_SLEEPERS);
  const int32_t phase = __atomic_load_n(phase_word, __ATOMIC_SEQ_CST);
  if (__atomic_add_fetch(arrived, 1, __ATOMIC_SEQ_CST) == threads) {
    __atomic_store_n(arrived, 0, __ATOMIC_SEQ_CST);
    __atomic_store_n(phase_word, phase + 1, __ATOMIC_SEQ_CST);
    if (__atomic_load_n(sleepers, __ATOMIC_SEQ_CST) != 0) wake_all(phase_word);
    return DONE;
  }
  for (int spin = 0; spin < BARRIER_SPINS; spin++) {
    if (__atomic_load_n(phase_word, __ATOMIC_ACQUIRE) != phase) return DONE;
    if (spin >= EAGER_SPINS && spin % YIELD_EVERY == 0) sched_yield();
    else PAUSE();
  }
  int outcome = DONE;
  double waited = 0, last = seconds();
  __atomic_add_fetch(sleepers, 1, __ATOMIC_SEQ_CST);
  while (__atomic_load_n(phase_word, __ATOMIC_SEQ_CST) == phase) {
    if (__atomic_load_n(control(machine, CONTROL_FAILED), __ATOMIC_SEQ_CST) != 0) outcome = FAILED;
    const double now = seconds();
    waited += now - last < LONGEST_GLANCE ? now - last : LONGEST_GLANCE;
    last = now;
    if (outcome == DONE && waited > machine->patience) outcome = TIMEOUT;
    if (outcome != DONE) break;
    sleep_on(phase_word, phase);
  }
  __atomic_sub_fetch(sleepers, 1, __ATOMIC_SEQ_CST);
  return outcome;
}

/** Runs `calls` records from `record` on, with a barrier after each. */
static int run_stretch(const Machine *machine, uint32_t record, int calls, int thread, int threads, int step) {
  Call call = {machine->memory, NULL, thread, threads, step, machine->scratch, machine->winograd};
  const uint32_t *words = (const uint32_t *)(machine->memory + record);
  for (int i = 0; i < calls; i++, words += words[1]) {
    call.args = words + RECORD_HEADER_WORDS;
    machine->kernels[words[0]](&call);
    if (threads > 1) {
      const int outcome = barrier(machine, threads);
      if (outcome != DONE) return outcome;
    }
  }
  return DONE;
}

/** (record, calls, thread, threads, step) → outcome */
static napi_value js_run(napi_env env, napi_callback_info info) {
  napi_value argv[5], result;
  size_t argc = 5;
  void *machine;
  int32_t values[5];
  int failed = napi_get_cb_info(env, info, &argc, argv, NULL, &machine) != napi_ok || argc < 5;
  for (int i = 0; i < 5 && !failed; i++) failed = napi_get_value_int32(env, argv[i], &values[i]) != napi_ok;
  if (failed) {
    napi_throw_type_error(env, NULL, "run(record, calls, thread, threads, step)");
    return NULL;
  }
  const int outcome = run_stretch(machine, (uint32_t)values[0], values[1], values[2], values[3], values[4]);
  return napi_create_int32(env, outcome, &result) == napi_ok ? result : NULL;
}

/**
 * Asks for pages of 2 MB where the system leaves that to programs: planes far apart are found with fewer looks into page tables. Only
 * those that lie in a plan as a whole, whose memory is written anyway.
 */
static void ask_large_pages(uint8_t *memory, size_t length) {
#if defined(__linux__)
  const size_t large = 2 << 20, before = -(uintptr_t)memory & (large - 1);
  if (length > before) madvise(memory + before, (length - before) & ~(large - 1), MADV_HUGEPAGE);
#else
  (void)memory, (void)length;
#endif
}

static void release(napi_env env, void *data, void *hint) {
  (void)env, (void)hint;
  Machine *machine = data;
  free(machine->scratch);
  free(machine->kernels);
  free(machine);
}

static Kernel find_kernel(const KernelTable *table, const char *name) {
  for (int i = 0; i < table->count; i++) {
    if (strcmp(table->kernels[i].name, name) == 0) return table->kernels[i].run;
  }
  return NULL;
}

/** attach(bytes: Buffer over the arena, names of the kernels by number, patience in seconds, where a plan begins) → run */
static napi_value js_attach(napi_env env, napi_callback_info info) {
  napi_value argv[4], result;
  size_t argc = 4, length;
  void *table, *memory;
  uint32_t names, base;
  double patience;
  if (napi_get_cb_info(env, info, &argc, argv, NULL, &table) != napi_ok || argc < 4 ||
      napi_get_buffer_info(env, argv[0], &memory, &length) != napi_ok ||
      napi_get_array_length(env, argv[1], &names) != napi_ok ||
      napi_get_value_double(env, argv[2], &patience) != napi_ok ||
      napi_get_value_uint32(env, argv[3], &base) != napi_ok || base > length) {
    napi_throw_type_error(env, NULL, "attach(bytes, names, patience, base)");
    return NULL;
  }
  Machine *machine = calloc(1, sizeof *machine);
  if (machine) {
    machine->memory = memory;
    ask_large_pages(machine->memory + base, length - base);
    machine->patience = patience;
    // For tests and for comparing: TRAINYARD_WINOGRAD=0 has all convolutions computed directly.
    const char *wish = getenv("TRAINYARD_WINOGRAD");
    machine->winograd = !wish || strcmp(wish, "0") != 0;
    machine->kernels = calloc(names, sizeof *machine->kernels);
    machine->scratch = aligned_alloc(64, SCRATCH_FLOATS * sizeof(float));
  }
  if (!machine || !machine->kernels || !machine->scratch) {
    if (machine) release(env, machine, NULL);
    napi_throw_error(env, NULL, "no memory for the native kernels");
    return NULL;
  }
  for (uint32_t i = 0; i < names; i++) {
    napi_value item;
    char name[64] = "";
    if (napi_get_element(env, argv[1], i, &item) != napi_ok ||
        napi_get_value_string_utf8(env, item, name, sizeof name, NULL) != napi_ok) {
      release(env, machine, NULL);
      napi_throw_type_error(env, NULL, "attach: a kernel's name is not a text");
      return NULL;
    }
    machine->kernels[i] = find_kernel(table, name);
  }
  if (napi_create_function(env, "run", NAPI_AUTO_LENGTH, js_run, machine, &result) != napi_ok ||
      napi_add_finalizer(env, result, machine, release, NULL, NULL) != napi_ok) {
    release(env, machine, NULL);
    napi_throw_error(env, NULL, "the native kernels cannot be attached");
    return NULL;
  }
  return result;
}

/** (rounds) → floating-point operations done */
static napi_value js_multiply_adds(napi_env env, napi_callback_info info) {
  napi_value argv[1], result;
  size_t argc = 1;
  void *table;
  int32_t rounds;
  if (napi_get_cb_info(env, info, &argc, argv, NULL, &table) != napi_ok || argc < 1 ||
      napi_get_value_int32(env, argv[0], &rounds) != napi_ok) {
    napi_throw_type_error(env, NULL, "multiplyAdds(rounds)");
    return NULL;
  }
  const KernelTable *own = table;
  const double done = own->multiply_adds ? own->multiply_adds(rounds) : 0;
  return napi_create_double(env, done, &result) == napi_ok ? result : NULL;
}

/** (target, source): typed arrays of as many bytes, which may lie in memory that threads share. */
static napi_value js_copy(napi_env env, napi_callback_info info) {
  napi_value argv[2];
  size_t argc = 2, room, length;
  void *target, *source;
  if (napi_get_cb_info(env, info, &argc, argv, NULL, NULL) != napi_ok || argc < 2 || !bytes_of(env, argv[0], &target, &room) ||
      !bytes_of(env, argv[1], &source, &length) || room != length) {
    napi_throw_type_error(env, NULL, "copy(target, source)");
    return NULL;
  }
  if (length > 0) memmove(target, source, length);
  return NULL;
}

/** Exports {instructions, kernels, attach, multiplyAdds, copy} and the reader of tables; on a CPU without the instruction sets, no kernels. */
NAPI_MODULE_INIT() {
  static const KernelTable nothing = {"none", 0, NULL, NULL};
  const KernelTable *table = pick_table();
  if (!table) table = &nothing;
  napi_value instructions, kernels, attach, multiply_adds, copy;
  int failed = napi_create_string_utf8(env, table->instructions, NAPI_AUTO_LENGTH, &instructions) != napi_ok ||
               napi_create_array_with_length(env, (size_t)table->count, &kernels) != napi_ok;
  for (int i = 0; i < table->count; i++) {
    napi_value name;
    failed = failed || napi_create_string_utf8(env, table->kernels[i].name, NAPI_AUTO_LENGTH, &name) != napi_ok ||
             napi_set_element(env, kernels, (uint32_t)i, name) != napi_ok;
  }
  failed = failed || napi_create_function(env, "attach", NAPI_AUTO_LENGTH, js_attach, (void *)table, &attach) != napi_ok ||
           napi_set_named_property(env, exports, "instructions", instructions) != napi_ok ||
           napi_set_named_property(env, exports, "kernels", kernels) != napi_ok ||
           napi_set_named_property(env, exports, "attach", attach) != napi_ok;
  failed = failed ||
           napi_create_function(env, "multiplyAdds", NAPI_AUTO_LENGTH, js_multiply_adds, (void *)table, &multiply_adds) != napi_ok ||
           napi_set_named_property(env, exports, "multiplyAdds", multiply_adds) != napi_ok;
  failed = failed || napi_create_function(env, "copy", NAPI_AUTO_LENGTH, js_copy, NULL, &copy) != napi_ok ||
           napi_set_named_property(env, exports, "copy", copy) != napi_ok;
  failed = failed || !export_plain(env, exports);
  if (failed) napi_throw_error(env, NULL, "the native kernels cannot be loaded");
  return exports;
}
