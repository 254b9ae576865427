// Registers the reader of plain tables with the addon of engine/backends/cpu/native/addon.c.

#pragma once
#include <node_api.h>

/** Adds readRows and afterLines to the exports; 0: it failed. */
int export_plain(napi_env env, napi_value exports);
