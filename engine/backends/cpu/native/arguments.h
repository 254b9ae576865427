// Arguments of the addon's functions.

#pragma once
#include <node_api.h>

/** The memory of a typed array and its length in bytes; 0: it is none. */
static inline int bytes_of(napi_env env, napi_value value, void **data, size_t *length) {
  napi_typedarray_type type;
  static const size_t sizes[] = {1, 1, 1, 2, 2, 4, 4, 4, 8, 8, 8};
  if (napi_get_typedarray_info(env, value, &type, length, data, NULL, NULL) != napi_ok || type > napi_biguint64_array) return 0;
  *length *= sizes[type];
  return 1;
}
