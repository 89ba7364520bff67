/* SPDX-License-Identifier: ISC */
/* What we use of Node-API, version 8 (Node 18 and later). That is a stable binary interface, so nothing of Node is
 * needed to build us. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct napi_env__ *napi_env;
typedef struct napi_value__ *napi_value;
typedef struct napi_ref__ *napi_ref;
typedef struct napi_handle_scope__ *napi_handle_scope;
typedef struct napi_callback_info__ *napi_callback_info;
typedef struct napi_async_cleanup_hook_handle__ *napi_async_cleanup_hook_handle;
typedef int napi_status; /* 0: fine */
typedef napi_value (*napi_callback)(napi_env env, napi_callback_info info);
typedef void (*napi_async_cleanup_hook)(napi_async_cleanup_hook_handle handle, void *data);

#define NAPI_AUTO_LENGTH ((size_t)-1)

napi_status napi_get_cb_info(napi_env env, napi_callback_info info, size_t *count, napi_value *args,
                             napi_value *self, void **data);
napi_status napi_create_function(napi_env env, const char *name, size_t size, napi_callback call,
                                 void *data, napi_value *result);
napi_status napi_set_named_property(napi_env env, napi_value object, const char *name,
                                    napi_value value);
napi_status napi_get_named_property(napi_env env, napi_value object, const char *name,
                                    napi_value *result);
napi_status napi_create_double(napi_env env, double value, napi_value *result);
napi_status napi_get_value_double(napi_env env, napi_value value, double *result);
napi_status napi_create_int32(napi_env env, int32_t value, napi_value *result);
napi_status napi_get_value_int32(napi_env env, napi_value value, int32_t *result);
napi_status napi_get_boolean(napi_env env, bool value, napi_value *result);
napi_status napi_get_value_bool(napi_env env, napi_value value, bool *result);
napi_status napi_get_undefined(napi_env env, napi_value *result);
napi_status napi_get_value_string_utf8(napi_env env, napi_value value, char *to, size_t size,
                                       size_t *length);
napi_status napi_create_string_utf8(napi_env env, const char *text, size_t length,
                                    napi_value *result);
napi_status napi_coerce_to_string(napi_env env, napi_value value, napi_value *result);
napi_status napi_is_error(napi_env env, napi_value value, bool *result);
napi_status napi_create_reference(napi_env env, napi_value value, uint32_t count, napi_ref *result);
napi_status napi_delete_reference(napi_env env, napi_ref ref);
napi_status napi_get_reference_value(napi_env env, napi_ref ref, napi_value *result);
napi_status napi_open_handle_scope(napi_env env, napi_handle_scope *scope);
napi_status napi_close_handle_scope(napi_env env, napi_handle_scope scope);
napi_status napi_call_function(napi_env env, napi_value self, napi_value function, size_t count,
                               const napi_value *args, napi_value *result);
napi_status napi_get_and_clear_last_exception(napi_env env, napi_value *result);
napi_status napi_is_exception_pending(napi_env env, bool *result);
napi_status napi_create_arraybuffer(napi_env env, size_t size, void **data, napi_value *result);
napi_status napi_get_uv_event_loop(napi_env env, void **loop);
napi_status napi_add_async_cleanup_hook(napi_env env, napi_async_cleanup_hook hook, void *data,
                                        napi_async_cleanup_hook_handle *handle);
napi_status napi_remove_async_cleanup_hook(napi_async_cleanup_hook_handle handle);
