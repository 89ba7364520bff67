// SPDX-License-Identifier: ISC
// Loaded first by every node that weft record, or a program that it runs, starts: NODE_OPTIONS names it. Any version of
// node must be able to read it. It starts recording, or prints why not, and leaves no trace in the program.
'use strict';
(function () {
  var fs = require('fs');
  var beginning = require('./begin.js');

  function say(why) {
    try {
      fs.writeSync(2, 'weft: ' + why + '; the program runs on without recording\n');
    } catch (e) {
      // nobody listens
    }
  }

  // Tools that only start other programs: users want to see those programs.
  function isTool() {
    var main = process.argv[1] || '';
    try {
      main = fs.realpathSync(main);
    } catch (e) {
      // it may be a name without its ending
    }
    return /[\\/](npm|npx|yarn|pnpm|corepack)[\\/](bin|dist|lib)[\\/][^\\/]*$/.test(main);
  }

  function begin() {
    var env = process.env;
    var own = env.WEFT_TRACE_FOR === String(process.pid);
    if (!env.WEFT_TRACE || (!own && !env.WEFT_TRACE_FORK) || isTool()) return;
    var addon, unfit = beginning.unfit();
    if (unfit) {
      if (own) say(unfit);
      return;
    }
    try {
      addon = beginning.load();
    } catch (why) {
      say(why);
      return;
    }
    if (addon.watched()) return;
    if (!addon.recording() &&
        (own || addon.start(env.WEFT_TRACE_FORK, Number(env.WEFT_TRACE_SIZE) || 0) !== 0))
      return;
    try {
      require('./promises.js').install(addon);
    } catch (e) {
      say('node ' + process.versions.node + ': ' + String(e && e.message).split('\n')[0]);
    }
  }

  begin();
  beginning.forget(module);
})();
