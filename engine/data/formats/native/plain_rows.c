// Cells of plain delimited text read into columns, measured and coded: the rules of ../plain-cells.ts, moments.ts, distinct-sample.ts
// and parquet-writer.ts, with the same bits. Runs on any thread; nothing is shared between calls.

#define _GNU_SOURCE
#include "plain_rows.h"
#include <float.h>
#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#if defined(__APPLE__)
#include <xlocale.h>
#endif

/** Slots of the tables in which different values are looked for; there are always some free. */
#define SLOTS 4096
/** Bytes of a number; longer ones are not plain. */
#define LONGEST_NUMBER 500

static const double powers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

#if LDBL_MANT_DIG == 64
static const long double wide_powers[] = {1e0L,  1e1L,  1e2L,  1e3L,  1e4L,  1e5L,  1e6L,  1e7L,  1e8L,  1e9L,
                                          1e10L, 1e11L, 1e12L, 1e13L, 1e14L, 1e15L, 1e16L, 1e17L, 1e18L, 1e19L,
                                          1e20L, 1e21L, 1e22L, 1e23L, 1e24L, 1e25L, 1e26L, 1e27L};

/**
 * The number of some digits with their mark, where these are at most 19 of a whole number and a power of ten that are exact in 64 bits:
 * their quotient is off by half of its last bit, so that it rounds as the number does, but for those half way between two. 0: not so.
 */
static int divide_exactly(const uint8_t *digits, const uint8_t *end, uint8_t decimal, double *value) {
  uint64_t whole = 0;
  size_t used = 0, decimals = 0;
  int behind = 0;
  for (const uint8_t *at = digits; at < end; at++) {
    if (*at == decimal) {
      behind = 1;
      continue;
    }
    whole = whole * 10 + (*at - '0');
    used += used > 0 || *at != (uint8_t)'0';
    decimals += (size_t)behind;
  }
  if (used > 19 || decimals >= sizeof wide_powers / sizeof *wide_powers) return 0;
  const long double quotient = (long double)whole / wide_powers[decimals];
  uint64_t mantissa;
  memcpy(&mantissa, &quotient, sizeof mantissa);
  *value = (double)quotient;
  // A double keeps all but the last eleven bits.
  const unsigned last = mantissa & 0x7ff;
  return last < 0x3ff || last > 0x401;
}
#else
static int divide_exactly(const uint8_t *digits, const uint8_t *end, uint8_t decimal, double *value) {
  (void)digits, (void)end, (void)decimal, (void)value;
  return 0;
}
#endif

ptrdiff_t after_lines(const uint8_t *bytes, size_t from, size_t end, size_t lines) {
  enum { STEP = 1024 };
  size_t at = from, found = 0;
  for (; at + STEP <= end; at += STEP) {
    uint32_t here = 0;
    for (int i = 0; i < STEP; i++) here += bytes[at + i] == '\n';
    if (found + here >= lines) break;
    found += here;
  }
  for (; at < end; at++) {
    if (bytes[at] == '\n' && ++found == lines) return (ptrdiff_t)at + 1;
  }
  return -1 - (ptrdiff_t)found;
}

static int is_missing_word(const PlainStyle *style, const uint8_t *cell, size_t length) {
  for (const uint8_t *word = style->words; word < style->words_end; word += 1 + *word) {
    if (*word == length && memcmp(word + 1, cell, length) == 0) return 1;
  }
  return 0;
}

/** Numbers in other spellings are read by the rules of C, whatever language the process speaks. Made once, for all threads. */
static locale_t plain_locale(void) {
  static locale_t made;
  locale_t known = __atomic_load_n(&made, __ATOMIC_ACQUIRE);
  if (known) return known;
  locale_t own = newlocale(LC_ALL_MASK, "C", NULL);
  if (!__atomic_compare_exchange_n(&made, &known, own, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
    freelocale(own);
    return known;
  }
  return own;
}

static const uint8_t *skip_digits(const uint8_t *at, const uint8_t *end, int *nonzero) {
  for (; at < end && *at >= '0' && *at <= '9'; at++) *nonzero |= *at != '0';
  return at;
}

/** A number cell that is written in another way; NaN: missing, Infinity: it is not for us to tell. */
static double other_number(const PlainStyle *style, const uint8_t *cell, size_t length) {
  if (is_missing_word(style, cell, length)) return NAN;
  char text[LONGEST_NUMBER + 1];
  if (length > LONGEST_NUMBER) return INFINITY;
  const uint8_t *at = cell, *end = cell + length;
  while (at < end && *at == ' ') at++;
  const uint8_t *from = at;
  if (at < end && (*at == '+' || *at == '-')) at++;
  const uint8_t *whole = at;
  int nonzero = 0;
  at = skip_digits(at, end, &nonzero);
  size_t digits = (size_t)(at - whole);
  const uint8_t *mark = NULL;
  if (at < end && *at == style->decimal) {
    mark = at++;
    const uint8_t *decimals = at;
    at = skip_digits(at, end, &nonzero);
    digits += (size_t)(at - decimals);
  }
  if (digits == 0) return INFINITY;
  const int exponent = at < end && (*at == 'e' || *at == 'E');
  if (exponent) {
    at++;
    if (at < end && (*at == '+' || *at == '-')) at++;
    const uint8_t *first = at;
    int ignored = 0;
    at = skip_digits(at, end, &ignored);
    if (at == first) return INFINITY;
  }
  const size_t used = (size_t)(at - from);
  const int spaces = at < end;
  while (at < end && *at == ' ') at++;
  if (at < end) return INFINITY;
  memcpy(text, from, used);
  text[used] = 0;
  if (mark) text[mark - from] = '.';
  const double value = strtod_l(text, NULL, plain_locale());
  const double size = fabs(value);
  const int zero = !nonzero && (exponent || !spaces);
  // What is too large or too small for a number is refused or not, in DuckDB's own way.
  return size < 1e300 && (size > 1e-290 || zero) ? value : INFINITY;
}

/**
 * Reads the number cell at `at`, which ends with `last`; returns where the next cell begins, NULL: it is not plain. Behind the
 * bytes there must be some that are none of a number.
 */
static const uint8_t *take_number(const PlainStyle *style, const uint8_t *at, const uint8_t *end, uint8_t last, double *value) {
  const uint8_t *from = at;
  const int quoted = *at == style->quote;
  at += quoted;
  const int negative = *at == '-';
  at += negative;
  const uint8_t *digits = at;
  uint64_t whole = 0;
  unsigned digit;
  while ((digit = (unsigned)*at - '0') <= 9) whole = whole * 10 + digit, at++;
  size_t count = (size_t)(at - digits), decimals = 0;
  if (*at == style->decimal) {
    const uint8_t *first = ++at;
    while ((digit = (unsigned)*at - '0') <= 9) whole = whole * 10 + digit, at++;
    decimals = (size_t)(at - first);
    count += decimals;
  }
  const uint8_t *digits_end = at;
  int fits = count > 0;
  if (quoted) fits = fits && *at++ == style->quote;
  if (fits && *at == last) {
    double number = (double)whole;
    if (count <= 19 && whole < (1ull << 53)) {
      if (decimals > 0) number /= powers[decimals];
    } else {
      fits = divide_exactly(digits, digits_end, style->decimal, &number);
    }
    *value = negative ? -number : number;
    if (fits) return at + 1;
  }
  const uint8_t *open = from + quoted;
  const uint8_t *close = open < end ? memchr(open, quoted ? style->quote : last, (size_t)(end - open)) : NULL;
  if (!close) return NULL;
  at = close + quoted;
  if (at >= end || *at != last) return NULL;
  *value = other_number(style, open, (size_t)(close - open));
  return isinf(*value) ? NULL : at + 1;
}

/** Where a text stands, and how long it is. */
typedef struct {
  uint32_t from, length;
} Cell;

static const uint8_t *take_text(const PlainStyle *style, const uint8_t *bytes, const uint8_t *at, uint8_t last, Cell *cell) {
  const int quoted = *at == style->quote;
  at += quoted;
  const uint8_t *from = at, close = quoted ? style->quote : last;
  for (; *at != close; at++) {
    // The line has fewer cells, or more, or there is a quote within one.
    if (*at < ' ' || (!quoted && (*at == style->delimiter || *at == style->quote))) return NULL;
  }
  *cell = (Cell){(uint32_t)(from - bytes), (uint32_t)(at - from)};
  if (!quoted) return at + 1;
  return at[1] == last ? at + 2 : NULL;
}

static int is_blank(const uint8_t *from, const uint8_t *end) {
  while (from < end && *from <= ' ') from++;
  return from == end;
}

/** Bytes of the separator of space (category Zs) at a place, 0: there is none. */
static size_t space_length(const uint8_t *at, size_t left) {
  if (*at < 0x80) return *at <= ' ';
  if (*at == 0xc2) return left > 1 && at[1] == 0xa0 ? 2 : 0;
  if (left < 3) return 0;
  const unsigned rest = (unsigned)at[1] << 8 | at[2];
  if (*at == 0xe1) return rest == 0x9a80 ? 3 : 0;
  if (*at == 0xe3) return rest == 0x8080 ? 3 : 0;
  return *at == 0xe2 && ((rest >= 0x8080 && rest <= 0x808a) || rest == 0x80af || rest == 0x819f) ? 3 : 0;
}

/** A text of nothing but separators is missing, and a word that says so. */
static int is_missing(const PlainStyle *style, int exact, const uint8_t *cell, size_t length) {
  if (!exact && is_missing_word(style, cell, length)) return 1;
  for (size_t at = 0, step; at < length; at += step) {
    if ((step = space_length(cell + at, length - at)) == 0) return 0;
  }
  return 1;
}

/** Moments of some values, as momentsOf of schema/moments.ts finds them. */
static void measure(const double *values, uint32_t rows, ColumnFacts *facts) {
  double minimum = INFINITY, maximum = -INFINITY, sum = 0;
  uint32_t missing = 0;
  int whole = 1;
  for (uint32_t row = 0; row < rows; row++) {
    const double value = values[row];
    if (value != value) {
      missing++;
      continue;
    }
    if (value < minimum) minimum = value;
    if (value > maximum) maximum = value;
    sum += value;
    whole &= value == trunc(value);
  }
  const double count = rows - missing;
  *facts = (ColumnFacts){.count = count, .minimum = minimum, .maximum = maximum, .whole = whole};
  if (count == 0 || minimum == maximum) {
    facts->mean = count == 0 ? 0 : minimum;
    return;
  }
  const double about = sum / count;
  double rest = 0, squares = 0;
  for (uint32_t row = 0; row < rows; row++) {
    const double deviation = values[row] - about;
    if (deviation != deviation) continue;
    rest += deviation;
    squares += deviation * deviation;
  }
  facts->mean = about + rest / count;
  facts->squares = squares - (rest * rest) / count;
}

/** Finds the different numbers, by their bits, and the code of each that is not missing; −1: there are too many, or none. */
static int code_numbers(const double *values, uint32_t rows, double *dictionary, uint16_t *codes) {
  int16_t slots[SLOTS];
  memset(slots, -1, sizeof slots);
  int different = 0;
  for (uint32_t row = 0; row < rows; row++) {
    if (values[row] != values[row]) continue;
    uint64_t bits;
    memcpy(&bits, &values[row], sizeof bits);
    const uint32_t low = (uint32_t)bits, high = (uint32_t)(bits >> 32);
    uint32_t slot = ((low ^ high * 0x9e3779b1u) * 0x85ebca6bu) >> 20;
    while (slots[slot] >= 0 && memcmp(&dictionary[slots[slot]], &bits, sizeof bits) != 0) slot = (slot + 1) % SLOTS;
    if (slots[slot] < 0) {
      if (different == DICTIONARY) return -1;
      dictionary[different] = values[row];
      slots[slot] = (int16_t)different++;
    }
    *codes++ = (uint16_t)slots[slot];
  }
  return different == 0 ? -1 : different;
}

/** Rows whose numbers may be in the sample of different values; as in schema/distinct-sample.ts. */
static uint32_t choose_rows(const double *values, uint32_t rows, uint32_t mask, uint16_t *chosen) {
  uint32_t count = 0;
  for (uint32_t row = 0; row < rows; row++) {
    uint64_t bits;
    memcpy(&bits, &values[row], sizeof bits);
    const uint32_t low = (uint32_t)bits, half = (uint32_t)(bits >> 32);
    const uint32_t high = low == 0 && half == 0x80000000u ? 0 : half;
    uint32_t hash = (low ^ high * 0x9e3779b1u) * 0x85ebca6bu;
    hash = (hash ^ hash >> 15) * 0xc2b2ae35u;
    hash ^= hash >> 13;
    chosen[count] = (uint16_t)row;
    count += (hash & mask) == 0;
  }
  return count;
}

static uint8_t *put_text(uint8_t *out, const uint8_t *text, uint32_t length) {
  const uint8_t head[4] = {(uint8_t)length, (uint8_t)(length >> 8), (uint8_t)(length >> 16), (uint8_t)(length >> 24)};
  memcpy(out, head, 4);
  memcpy(out + 4, text, length);
  return out + 4 + length;
}

/** The different texts of a column and their codes; where these are too many, all texts. Returns where they end. */
static uint8_t *code_texts(const PlainRows *group, int exact, const Cell *cells, uint16_t *codes, uint8_t *out, ColumnFacts *facts) {
  struct {
    Cell cell;
    uint16_t code;
  } seen[DICTIONARY];
  int16_t slots[SLOTS];
  memset(slots, -1, sizeof slots);
  uint8_t *end = out;
  int known = 0, different = 0;
  uint32_t row = 0;
  for (; row < group->rows; row++) {
    const Cell cell = cells[row];
    const uint8_t *text = group->bytes + cell.from;
    uint32_t hash = cell.length;
    for (uint32_t i = 0; i < cell.length; i++) hash = (hash ^ text[i]) * 0x01000193u;
    uint32_t slot = (hash ^ hash >> 15) % SLOTS;
    for (; slots[slot] >= 0; slot = (slot + 1) % SLOTS) {
      const Cell other = seen[slots[slot]].cell;
      if (other.length == cell.length && memcmp(group->bytes + other.from, text, cell.length) == 0) break;
    }
    if (slots[slot] < 0) {
      if (known == DICTIONARY) break;
      const int missing = is_missing(&group->style, exact, text, cell.length);
      if (!missing) end = put_text(end, text, cell.length);
      seen[known].cell = cell;
      seen[known].code = missing ? MISSING_CODE : (uint16_t)different++;
      slots[slot] = (int16_t)known++;
    }
    codes[row] = seen[slots[slot]].code;
  }
  facts->different = different == 0 ? -1 : different;
  if (row == group->rows) return end;
  facts->different = -1;
  end = out;
  for (row = 0; row < group->rows; row++) {
    const uint8_t *text = group->bytes + cells[row].from;
    const int missing = is_missing(&group->style, exact, text, cells[row].length);
    codes[row] = missing ? MISSING_CODE : 0;
    if (!missing) end = put_text(end, text, cells[row].length);
  }
  return end;
}

/** Splits the lines into numbers and the places of texts; 0: they are not plain. */
static int take_rows(const PlainRows *group, double *const *numbers, Cell *const *cells) {
  const PlainStyle *style = &group->style;
  const uint8_t *at = group->bytes, *end = at + group->length;
  const uint32_t width = style->width;
  const uint8_t line_end = style->returns ? '\r' : '\n';
  for (uint32_t row = 0; row < group->rows; row++) {
    const uint8_t *line = at;
    for (uint32_t column = 0; column < width; column++) {
      const uint8_t last = column + 1 == width ? line_end : style->delimiter;
      if (at >= end) return 0;
      at = style->kinds[column] == NUMBER ? take_number(style, at, end, last, &numbers[column][row])
                                          : take_text(style, group->bytes, at, last, &cells[column][row]);
      if (!at) return 0;
    }
    if (style->returns && (at >= end || *at++ != '\n')) return 0;
    // Whether a line of blanks is a record is not for us to tell.
    if ((style->delimiter <= ' ' || width == 1) && is_blank(line, at)) return 0;
  }
  return at == end;
}

int read_plain_rows(const PlainRows *group) {
  const uint32_t width = group->style.width, rows = group->rows;
  uint32_t texts = 0;
  for (uint32_t column = 0; column < width; column++) texts += group->style.kinds[column] != NUMBER;
  const size_t number_bytes = (rows + DICTIONARY) * sizeof(double);
  const size_t fixed = (width - texts) * number_bytes + (size_t)width * rows * sizeof(uint16_t);
  if (fixed + group->length + (size_t)texts * rows * 4 > group->out_length) return 0;
  // The last byte is the end of a line: nothing is read beyond it.
  if (group->length == 0 || group->bytes[group->length - 1] != '\n') return 0;
  double **numbers = calloc(width, sizeof *numbers);
  Cell **cells = calloc(width, sizeof *cells), *places = malloc(((size_t)texts * rows + 1) * sizeof *places);
  int read = numbers && cells && places;
  if (read) {
    uint32_t number = 0, text = 0;
    for (uint32_t column = 0; column < width; column++) {
      if (group->style.kinds[column] == NUMBER) numbers[column] = (double *)(group->out + number++ * number_bytes);
      else cells[column] = places + (size_t)text++ * rows;
    }
    read = take_rows(group, numbers, cells);
  }
  uint16_t *codes = (uint16_t *)(group->out + (width - texts) * number_bytes);
  uint8_t *end = group->out + fixed;
  for (uint32_t column = 0; read && column < width; column++, codes += rows) {
    ColumnFacts *facts = &group->facts[column];
    const int kind = group->style.kinds[column];
    if (kind == NUMBER) {
      measure(numbers[column], rows, facts);
      facts->different = code_numbers(numbers[column], rows, numbers[column] + rows, codes);
      const int chooses = facts->different < 0 && group->masks[column] != 0;
      facts->chosen = chooses ? (double)choose_rows(numbers[column], rows, group->masks[column], codes) : -1;
    } else {
      facts->chosen = (double)(end - group->out);
      end = code_texts(group, kind == EXACT_TEXT, cells[column], codes, end, facts);
      facts->end = (double)(end - group->out);
    }
  }
  free(numbers);
  free(cells);
  free(places);
  return read;
}
