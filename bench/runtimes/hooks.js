// SPDX-License-Identifier: ISC
// For bench/run-runtimes: async_hooks that do nothing.
'use strict';

const nothing = () => {};
require('async_hooks').createHook({ init: nothing, before: nothing, after: nothing, destroy: nothing }).enable();
