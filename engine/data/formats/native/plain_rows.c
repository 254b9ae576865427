// Cells of plain delimited text read into columns, measured and coded: the rules of ../plain-cells.ts, moments.ts, distinct-sample.ts
// and parquet-writer.ts, with the same bits. Runs on any thread; nothing is shared between calls.

#define _GNU_SOURCE
#include "plain_numbers.h"
#include "plain_rows.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/** Slots of the tables in which different values are looked for; there are always some free. */
#define SLOTS 4096

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

/** Numbers that may be in the sample of different values, as in schema/distinct-sample.ts; −1: more than there is room for. */
static int choose_numbers(const double *values, uint32_t rows, uint32_t mask, double *chosen, uint32_t room) {
  uint32_t count = 0;
  for (uint32_t row = 0; row < rows; row++) {
    if (count == room) return -1;
    uint64_t bits;
    memcpy(&bits, &values[row], sizeof bits);
    const uint32_t low = (uint32_t)bits, half = (uint32_t)(bits >> 32);
    const uint32_t high = low == 0 && half == 0x80000000u ? 0 : half;
    uint32_t hash = (low ^ high * 0x9e3779b1u) * 0x85ebca6bu;
    hash = (hash ^ hash >> 15) * 0xc2b2ae35u;
    hash ^= hash >> 13;
    chosen[count] = values[row];
    count += (hash & mask) == 0 && values[row] == values[row];
  }
  return (int)count;
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
      // Without a dictionary the room for codes is free.
      double *room = (double *)((uintptr_t)(codes + 3) & ~(uintptr_t)7);
      const uint32_t fits = rows < 4 ? 0 : (uint32_t)((codes + rows - (uint16_t *)room) / 4);
      const int chooses = facts->different < 0 && group->masks[column] != 0;
      facts->chosen = chooses ? choose_numbers(numbers[column], rows, group->masks[column], room, fits) : -1;
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
