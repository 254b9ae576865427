// The Node-API side of plain_rows.c: rows are read on a thread of libuv's pool, and the promise is kept on the caller's.

#include "plain_addon.h"
#include "../../../backends/cpu/native/arguments.h"
#include "plain_rows.h"
#include <stdlib.h>
#include <string.h>

/** A reading under way. */
typedef struct {
  PlainRows rows;
  int read;
  napi_async_work work;
  napi_deferred deferred;
  /** The arguments, so that their memory stays. */
  napi_ref held;
} Reading;

static void execute(napi_env env, void *data) {
  (void)env;
  Reading *reading = data;
  reading->read = read_plain_rows(&reading->rows);
}

static void complete(napi_env env, napi_status status, void *data) {
  Reading *reading = data;
  napi_value result;
  if (napi_get_boolean(env, status == napi_ok && reading->read, &result) == napi_ok)
    napi_resolve_deferred(env, reading->deferred, result);
  napi_delete_reference(env, reading->held);
  napi_delete_async_work(env, reading->work);
  free(reading);
}

/** (bytes, rows, style, masks, out, facts) → Promise<boolean>; see ../native-cells.ts. */
static napi_value js_read_rows(napi_env env, napi_callback_info info) {
  napi_value argv[6], promise, held, name;
  size_t argc = 6, style_length, masks_length, facts_length;
  void *bytes, *style, *masks, *out, *facts;
  Reading *reading = calloc(1, sizeof *reading);
  PlainRows *rows = reading ? &reading->rows : NULL;
  int ok = rows && napi_get_cb_info(env, info, &argc, argv, NULL, NULL) == napi_ok && argc == 6 &&
           bytes_of(env, argv[0], &bytes, &rows->length) && napi_get_value_uint32(env, argv[1], &rows->rows) == napi_ok &&
           bytes_of(env, argv[2], &style, &style_length) && bytes_of(env, argv[3], &masks, &masks_length) &&
           bytes_of(env, argv[4], &out, &rows->out_length) && bytes_of(env, argv[5], &facts, &facts_length);
  if (ok) {
    // Delimiter, quote, decimal mark, whether lines end with a carriage return, the kinds of all columns, words.
    const uint8_t *marks = style;
    const size_t width = masks_length / sizeof(uint32_t);
    rows->bytes = bytes, rows->masks = masks, rows->out = out, rows->facts = facts;
    rows->style = (PlainStyle){marks[0], marks[1], marks[2], marks[3], marks + 4 + width, marks + style_length, (uint32_t)width, marks + 4};
    ok = style_length >= 4 + width && facts_length >= width * sizeof(ColumnFacts) && rows->rows < MISSING_CODE;
  }
  ok = ok && napi_create_array_with_length(env, argc, &held) == napi_ok;
  for (uint32_t i = 0; ok && i < argc; i++) ok = napi_set_element(env, held, i, argv[i]) == napi_ok;
  ok = ok && napi_create_string_utf8(env, "trainyard rows", NAPI_AUTO_LENGTH, &name) == napi_ok &&
       napi_create_reference(env, held, 1, &reading->held) == napi_ok &&
       napi_create_promise(env, &reading->deferred, &promise) == napi_ok &&
       napi_create_async_work(env, NULL, name, execute, complete, reading, &reading->work) == napi_ok &&
       napi_queue_async_work(env, reading->work) == napi_ok;
  if (ok) return promise;
  free(reading);
  napi_throw_type_error(env, NULL, "readRows(bytes, rows, style, masks, out, facts)");
  return NULL;
}

/** (bytes, from, end, lines) → where the line after so many begins, or −1 − the lines there are. */
static napi_value js_after_lines(napi_env env, napi_callback_info info) {
  napi_value argv[4], result;
  size_t argc = 4, length;
  void *bytes;
  uint32_t places[3];
  int ok = napi_get_cb_info(env, info, &argc, argv, NULL, NULL) == napi_ok && argc == 4 && bytes_of(env, argv[0], &bytes, &length);
  for (int i = 0; i < 3 && ok; i++) ok = napi_get_value_uint32(env, argv[i + 1], &places[i]) == napi_ok;
  if (!ok || places[1] > length) {
    napi_throw_type_error(env, NULL, "afterLines(bytes, from, end, lines)");
    return NULL;
  }
  const double found = (double)after_lines(bytes, places[0], places[1], places[2]);
  return napi_create_double(env, found, &result) == napi_ok ? result : NULL;
}

int export_plain(napi_env env, napi_value exports) {
  napi_value read, lines;
  return napi_create_function(env, "readRows", NAPI_AUTO_LENGTH, js_read_rows, NULL, &read) == napi_ok &&
         napi_create_function(env, "afterLines", NAPI_AUTO_LENGTH, js_after_lines, NULL, &lines) == napi_ok &&
         napi_set_named_property(env, exports, "readRows", read) == napi_ok &&
         napi_set_named_property(env, exports, "afterLines", lines) == napi_ok;
}
