// Cells of plain numbers: the rules of ../plain-cells.ts, with the same bits. Included by plain_rows.c alone, which has them inlined.

#pragma once
#include "plain_rows.h"
#include <float.h>
#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#if defined(__APPLE__)
#include <xlocale.h>
#endif

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
