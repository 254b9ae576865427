// Trees of forests, whole: contract in kernels/tree_forest. Sums are float64 in the order of the WASM kernel, without fusing.

#include "vectors.h"
#include "trees.h"

/** Words of a state before its stack, and of a place in that; bins of a column. */
enum { HEAD = 16, PLACE = 8, STATE = 512, BINS = 256 };
enum { IDLE, TO_BEGIN, GROWING, DONE };
/** Words of a state. */
enum { STATUS, TREE, CUTS, STACK = 6, NODES, LEAVES, SETS, ROWS, VALUES, DRAWS };

typedef struct {
  uint32_t row, draws;
  float target;
} Entry;

typedef double Sum __attribute__((vector_size(16), may_alias));

/** What a slot works with. */
typedef struct {
  const uint8_t *bins;
  const float *targets;
  const double *weights;
  const uint32_t *kinds;
  size_t width;
  uint32_t rows, outputs, min_rows, depth, columns, random_cuts, bootstrap, budget;
  uint32_t *state;
  Entry *list, *spare;
  uint32_t *order;
  /** [bins, outputs], of one output [bins, 2]: weight and weighted target; zero between two columns. Then the node's sums, and a side's. */
  double *sums, *whole, *side;
  uint32_t *nodes, *masks, *leaves, *classes;
  double *gains, *values;
  /** Scratch: of the bins that a node has, and the classes. */
  double *means;
  uint32_t *used, *drawn, *present;
  uint8_t *goes_left;
} Slot;

typedef struct {
  double weight;
  uint32_t drawn, present;
  int pure;
} Whole;

typedef struct {
  double score;
  uint32_t column, cut, set, missing_left;
  int found;
  uint32_t mask[8];
} Best;

/** Small fast counting generator (engine/optim/random.ts). */
INLINE uint32_t next_word(uint32_t *s) {
  const uint32_t result = s[0] + s[1] + s[3];
  s[3]++;
  s[0] = s[1] ^ (s[1] >> 9);
  s[1] = s[2] + (s[2] << 3);
  s[2] = ((s[2] << 21) | (s[2] >> 11)) + result;
  return result;
}
INLINE uint32_t draw(uint32_t *s, uint32_t below) { return (uint32_t)((double)next_word(s) * 0x1p-32 * (double)below); }

INLINE double weight_of(const Slot *s, const Entry *entry) {
  return s->weights ? (double)entry->draws * s->weights[(uint32_t)entry->target] : (double)entry->draws;
}

static void begin(const Slot *s) {
  uint32_t count = 0, *draws = (uint32_t *)s->spare;
  if (s->bootstrap) {
    memset(draws, 0, 4 * (size_t)s->rows);
    for (uint32_t i = 0; i < s->rows; i++) draws[draw(s->state + DRAWS, s->rows)]++;
  }
  for (uint32_t row = 0; row < s->rows; row++) {
    const uint32_t own = s->bootstrap ? draws[row] : 1;
    if (own == 0) continue;
    s->list[count++] = (Entry){row, own, s->targets[row]};
  }
  for (uint32_t i = 0; i < s->width; i++) s->order[i] = i;
  uint32_t *state = s->state, *place = state + HEAD;
  state[STATUS] = GROWING, state[STACK] = 1, state[NODES] = 0, state[LEAVES] = 1, state[SETS] = 0, state[ROWS] = count;
  place[0] = 0, place[1] = count, place[2] = 0, place[3] = 0, place[4] = UINT32_MAX;
}

/** Sums of some rows into `whole`, and the classes there are, in order. */
static Whole sum_rows(const Slot *s, uint32_t from, uint32_t to) {
  Whole whole = {0, 0, 0, 1};
  const float first = s->list[from].target;
  if (s->outputs == 1) {
    double sum = 0;
    for (uint32_t i = from; i < to; i++) {
      const Entry *entry = s->list + i;
      const double own = weight_of(s, entry);
      whole.weight += own;
      whole.drawn += entry->draws;
      sum += own * (double)entry->target;
      whole.pure &= entry->target == first;
    }
    s->whole[0] = sum;
    s->present[0] = 0;
    whole.present = 1;
    return whole;
  }
  for (uint32_t i = from; i < to; i++) {
    const Entry *entry = s->list + i;
    const double own = weight_of(s, entry);
    const uint32_t k = (uint32_t)entry->target;
    whole.weight += own;
    whole.drawn += entry->draws;
    if (s->whole[k] == 0) {
      uint32_t place = whole.present++;
      for (; place > 0 && s->present[place - 1] > k; place--) s->present[place] = s->present[place - 1];
      s->present[place] = k;
    }
    s->whole[k] += own;
  }
  whole.pure = whole.present == 1;
  return whole;
}

static void forget(const Slot *s, Whole whole) {
  for (uint32_t j = 0; j < whole.present; j++) s->whole[s->present[j]] = 0;
}

/** Sums of the node's rows by their bins of a column; how many bins there are, whose numbers are in `used`. */
static uint32_t fill(const Slot *s, uint32_t column, uint32_t from, uint32_t to) {
  const uint8_t *bins = s->bins + column;
  const size_t width = s->width, outputs = s->outputs;
  uint64_t there[4] = {0};
  for (uint32_t i = from; i < to; i++) {
    const Entry *entry = s->list + i;
    const uint32_t bin = bins[entry->row * width];
    const double own = weight_of(s, entry);
    there[bin >> 6] |= 1ull << (bin & 63);
    s->drawn[bin] += entry->draws;
    if (outputs == 1) ((Sum *)s->sums)[bin] += (Sum){own, own * (double)entry->target};
    else s->sums[bin * outputs + (uint32_t)entry->target] += own;
  }
  uint32_t count = 0;
  for (uint32_t word = 0; word < 4; word++) {
    for (uint64_t rest = there[word]; rest; rest &= rest - 1) s->used[count++] = 64 * word + (uint32_t)__builtin_ctzll(rest);
  }
  return count;
}

static void empty(const Slot *s, uint32_t count, Whole whole) {
  for (uint32_t i = 0; i < count; i++) {
    const size_t bin = s->used[i];
    s->drawn[bin] = 0;
    if (s->outputs == 1) ((Sum *)s->sums)[bin] = (Sum){0, 0};
    else for (uint32_t j = 0; j < whole.present; j++) s->sums[bin * s->outputs + s->present[j]] = 0;
  }
}

/** Tries the cuts behind each of `count` bins but the last, or behind place `only` alone. */
static void scan(const Slot *s, uint32_t column, uint32_t count, Whole whole, uint32_t only, int set, uint32_t missing_left,
                 Best *best) {
  double left = 0, sum = 0, squares = 0, others = 0;
  uint32_t drawn = 0;
  for (uint32_t j = 0; j < whole.present; j++) others += s->whole[s->present[j]] * s->whole[s->present[j]];
  for (uint32_t place = 0; place + 1 < count; place++) {
    const size_t bin = s->used[place];
    drawn += s->drawn[bin];
    if (s->outputs == 1) {
      left += s->sums[2 * bin];
      sum += s->sums[2 * bin + 1];
      squares = sum * sum;
      others = (s->whole[0] - sum) * (s->whole[0] - sum);
    } else {
      for (uint32_t j = 0; j < whole.present; j++) {
        const uint32_t k = s->present[j];
        const double more = s->sums[bin * s->outputs + k];
        if (more == 0) continue;
        left += more;
        squares += more * (2 * s->side[k] + more);
        others -= more * (2 * (s->whole[k] - s->side[k]) - more);
        s->side[k] += more;
      }
    }
    if (only != UINT32_MAX && place != only) continue;
    // With what is missing alone on the left there is no bin to cut behind.
    if (drawn < s->min_rows || whole.drawn - drawn < s->min_rows || (missing_left == 1 && place == 0)) continue;
    const double score = squares / left + others / (whole.weight - left);
    if (best->found && score <= best->score) continue;
    best->found = 1, best->score = score, best->column = column, best->set = (uint32_t)set, best->cut = (uint32_t)bin;
    best->missing_left = missing_left == 2 ? 2 * (uint64_t)drawn >= whole.drawn : missing_left;
    if (!set) continue;
    memset(best->mask, 0, sizeof best->mask);
    for (uint32_t i = 0; i <= place; i++) best->mask[s->used[i] >> 5] |= 1u << (s->used[i] & 31);
  }
  if (s->outputs > 1) for (uint32_t j = 0; j < whole.present; j++) s->side[s->present[j]] = 0;
}

/** Bins of a category by the mean target of their rows, or the share of the class most rows have. */
static void by_target(const Slot *s, uint32_t count, Whole whole) {
  uint32_t most = s->present[0];
  for (uint32_t j = 1; j < whole.present; j++) if (s->whole[s->present[j]] > s->whole[most]) most = s->present[j];
  for (uint32_t i = 0; i < count; i++) {
    const uint32_t bin = s->used[i];
    double weight = 0, sum;
    if (s->outputs == 1) weight = s->sums[2 * bin], sum = s->sums[2 * bin + 1];
    else {
      for (uint32_t j = 0; j < whole.present; j++) weight += s->sums[bin * s->outputs + s->present[j]];
      sum = s->sums[bin * s->outputs + most];
    }
    const double mean = sum / weight;
    uint32_t place = i;
    for (; place > 0 && s->means[place - 1] > mean; place--) {
      s->means[place] = s->means[place - 1];
      s->used[place] = s->used[place - 1];
    }
    s->means[place] = mean;
    s->used[place] = bin;
  }
}

/** Looks at one column; 0: it is the same in all rows. */
static int look(const Slot *s, uint32_t column, uint32_t from, uint32_t to, Whole whole, Best *best) {
  const uint32_t count = fill(s, column, from, to), kind = s->kinds[column];
  if (count >= 2 && kind >> 31) {
    by_target(s, count, whole);
    const uint32_t only = s->random_cuts ? draw(s->state + CUTS, count - 1) : UINT32_MAX;
    scan(s, column, count, whole, only, 1, 0, best);
  } else if (count >= 2) {
    const int missing = s->used[count - 1] == kind;
    const uint32_t known = missing ? count - 1 : count;
    uint32_t only = UINT32_MAX;
    if (s->random_cuts) {
      const uint32_t first = s->used[0], range = s->used[known - 1] - first;
      const uint32_t cut = first + draw(s->state + CUTS, range > 1 ? range : 1);
      for (only = 0; only + 1 < known && s->used[only + 1] <= cut;) only++;
    }
    // What is missing comes last, then first; where nothing is, a later one goes the way of most rows.
    scan(s, column, count, whole, only, 0, missing ? 0 : 2, best);
    if (missing) {
      memmove(s->used + 1, s->used, 4 * (size_t)known);
      s->used[0] = kind;
      scan(s, column, count, whole, only == UINT32_MAX ? only : only + 1, 0, 1, best);
    }
  }
  empty(s, count, whole);
  return count >= 2;
}

/** Finds how a node is split best; 0: not at all. */
static int find(const Slot *s, uint32_t from, uint32_t to, Whole whole, Best *best) {
  double parent = 0;
  for (uint32_t j = 0; j < whole.present; j++) parent += s->whole[s->present[j]] * s->whole[s->present[j]];
  parent /= whole.weight;
  best->found = 0, best->score = 0;
  const uint32_t width = (uint32_t)s->width;
  for (uint32_t i = 0, looked = 0; i < width && looked < s->columns; i++) {
    const uint32_t j = i + draw(s->state + CUTS, width - i), column = s->order[j];
    s->order[j] = s->order[i];
    s->order[i] = column;
    looked += (uint32_t)look(s, column, from, to, whole, best);
  }
  best->score -= parent;
  const double size = parent < 0 ? -parent : parent;
  return best->found && best->score > 1e-9 * (size > 1 ? size : 1);
}

/** Sorts the rows of a node by its split, stable; where the right ones begin. */
static uint32_t divide(const Slot *s, uint32_t from, uint32_t to, const Best *best) {
  for (uint32_t bin = 0; bin < BINS; bin++) {
    s->goes_left[bin] = best->set ? (uint8_t)((best->mask[bin >> 5] >> (bin & 31)) & 1) : bin <= best->cut;
  }
  if (!best->set) s->goes_left[s->kinds[best->column] & 0xff] = (uint8_t)best->missing_left;
  const uint8_t *bins = s->bins + best->column;
  uint32_t left = from, right = 0;
  for (uint32_t i = from; i < to; i++) {
    const Entry entry = s->list[i];
    // Both are written, one of them counts: no branch to be guessed.
    const uint32_t goes = s->goes_left[bins[entry.row * s->width]];
    s->list[left] = entry;
    s->spare[right] = entry;
    left += goes;
    right += 1 - goes;
  }
  memcpy(s->list + left, s->spare, sizeof(Entry) * right);
  return left;
}

static void push(uint32_t *state, uint32_t from, uint32_t to, uint32_t depth, uint32_t leaf, uint32_t parent) {
  uint32_t *place = state + HEAD + PLACE * state[STACK]++;
  place[0] = from, place[1] = to, place[2] = depth, place[3] = leaf, place[4] = parent;
}

/** Splits a node, or makes it a leaf. */
static void grow_node(const Slot *s) {
  uint32_t *state = s->state;
  const uint32_t *place = state + HEAD + PLACE * --state[STACK];
  const uint32_t from = place[0], to = place[1], depth = place[2], leaf = place[3], parent = place[4];
  const Whole whole = sum_rows(s, from, to);
  Best best;
  const int open = (s->depth == 0 || depth < s->depth) && to - from > 1 && whole.drawn >= 2 * s->min_rows && !whole.pure;
  const int found = open && find(s, from, to, whole, &best);
  forget(s, whole);
  if (!found) {
    s->leaves[4 * (size_t)leaf] = from, s->leaves[4 * (size_t)leaf + 1] = to;
    return;
  }
  const uint32_t middle = divide(s, from, to, &best), node = state[NODES]++, added = state[LEAVES]++;
  uint32_t *own = s->nodes + 4 * (size_t)node;
  if (parent != UINT32_MAX) s->nodes[4 * (size_t)(parent >> 1) + 2 + (parent & 1)] = node;
  own[0] = best.column | best.missing_left << 31, own[1] = best.cut, own[2] = ~leaf, own[3] = ~added;
  if (best.set) {
    own[1] = state[SETS];
    memcpy(s->masks + 8 * (size_t)state[SETS]++, best.mask, sizeof best.mask);
  }
  s->gains[node] = best.score;
  // The smaller one first: few wait at any time.
  const int larger_left = middle - from > to - middle;
  if (larger_left) push(state, from, middle, depth + 1, leaf, 2 * node);
  push(state, middle, to, depth + 1, added, 2 * node + 1);
  if (!larger_left) push(state, from, middle, depth + 1, leaf, 2 * node);
}

/** What each leaf says. */
static void finish(const Slot *s) {
  uint32_t count = 0;
  for (uint32_t leaf = 0; leaf < s->state[LEAVES]; leaf++) {
    uint32_t *own = s->leaves + 4 * (size_t)leaf;
    const Whole whole = sum_rows(s, own[0], own[1]);
    own[2] = count;
    for (uint32_t j = 0; j < whole.present; j++, count++) {
      s->values[count] = s->whole[s->present[j]] / whole.weight;
      if (s->outputs > 1) s->classes[count] = s->present[j];
    }
    own[3] = count;
    forget(s, whole);
  }
  s->state[VALUES] = count;
  s->state[STATUS] = DONE;
}

static void advance(const Slot *s) {
  uint64_t visits = 0;
  if (s->state[STATUS] == TO_BEGIN) begin(s), visits = 2 * (uint64_t)s->rows;
  while (s->state[STACK] > 0) {
    if (visits >= s->budget) return;
    const uint32_t *place = s->state + HEAD + PLACE * (s->state[STACK] - 1);
    visits += 16 + (uint64_t)(place[1] - place[0]) * (2 + s->columns);
    grow_node(s);
  }
  finish(s);
}

void tree_forest(const Call *call) {
  const uint32_t *job = (const uint32_t *)operand(call, 4);
  const size_t rows = (size_t)integer(call, 15), width = (size_t)integer(call, 16), outputs = (size_t)integer(call, 18);
  const size_t capacity = (size_t)integer(call, 19), sets = (size_t)integer(call, 20), room = (size_t)integer(call, 21);
  const size_t entries = outputs > 1 ? outputs : 2;
  uint8_t *scratch = (uint8_t *)call->scratch;
  memset(scratch + 4096, 0, 1024);
  for (size_t i = (size_t)call->thread; i < (size_t)integer(call, 17); i += (size_t)call->threads) {
    double *sums = (double *)operand(call, 8) + i * 258 * entries;
    const Slot slot = {
        .bins = (const uint8_t *)operand(call, 0), .targets = operand(call, 1), .weights = (const double *)operand(call, 2),
        .kinds = (const uint32_t *)operand(call, 3), .width = width, .rows = (uint32_t)rows, .outputs = (uint32_t)outputs,
        .min_rows = job[0], .depth = job[1], .columns = job[2], .random_cuts = job[3], .bootstrap = job[4], .budget = job[5],
        .state = (uint32_t *)operand(call, 5) + i * STATE, .list = (Entry *)operand(call, 6) + i * 2 * rows,
        .spare = (Entry *)operand(call, 6) + (i * 2 + 1) * rows, .order = (uint32_t *)operand(call, 7) + i * width,
        .sums = sums, .whole = sums + 256 * entries, .side = sums + 257 * entries,
        .nodes = (uint32_t *)operand(call, 9) + i * 4 * capacity, .gains = (double *)operand(call, 10) + i * capacity,
        .masks = (uint32_t *)operand(call, 11) + i * 8 * sets, .leaves = (uint32_t *)operand(call, 12) + i * 4 * capacity,
        .values = (double *)operand(call, 13) + i * room, .classes = (uint32_t *)operand(call, 14) + i * room,
        .means = (double *)scratch, .used = (uint32_t *)(scratch + 2048), .drawn = (uint32_t *)(scratch + 4096),
        .goes_left = scratch + 5120, .present = (uint32_t *)(scratch + 8192)};
    if (slot.state[STATUS] == TO_BEGIN || slot.state[STATUS] == GROWING) advance(&slot);
  }
}
