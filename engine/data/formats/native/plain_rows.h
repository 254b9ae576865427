// What plain_rows.c offers to plain_addon.c: rows of plain delimited text read into columns, as ../plain-cells.ts reads them.

#pragma once
#include <stddef.h>
#include <stdint.h>

/** Kinds of columns. Of exact texts no word stands for a missing cell. */
enum { NUMBER = 0, TEXT = 1, EXACT_TEXT = 2 };

/** How the cells of a file are written. */
typedef struct {
  uint8_t delimiter, quote, decimal, returns;
  /** Spellings of a missing value, each behind its length in a byte. */
  const uint8_t *words, *words_end;
  uint32_t width;
  const uint8_t *kinds;
} PlainStyle;

/** What is told of a column of a group of rows, in words of 64 bits that ../native-cells.ts reads. */
typedef struct {
  double count, minimum, maximum, mean, squares, whole;
  /** Different values, −1: too many for a dictionary. */
  double different;
  /**
   * Of numbers that have no dictionary: how many are chosen for the sample of different values, which stand in the room for codes from its
   * first multiple of 8 bytes on, −1: all; of texts: where theirs begin.
   */
  double chosen;
  /** Of texts: where theirs end. */
  double end;
} ColumnFacts;

typedef struct {
  PlainStyle style;
  /** Whole lines. */
  const uint8_t *bytes;
  size_t length;
  uint32_t rows;
  /** By column: bits of a hash that are 0 in the sample of different values. */
  const uint32_t *masks;
  /** By column: of numbers `rows` values and the `DICTIONARY` different ones; then codes of all columns; then texts. */
  uint8_t *out;
  size_t out_length;
  ColumnFacts *facts;
} PlainRows;

/** Different values up to which a column has a dictionary, and the code of a missing text: those of ../parquet-writer.ts. */
#define DICTIONARY 1024
#define MISSING_CODE 0xffff

/** 1: read; 0: the rows are not plain, or there is no memory. */
int read_plain_rows(const PlainRows *rows);
/** Where the line after so many begins, or −1 − the lines there are. */
ptrdiff_t after_lines(const uint8_t *bytes, size_t from, size_t end, size_t lines);
