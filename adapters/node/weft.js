// SPDX-License-Identifier: ISC
// Loaded first by every node that weft record, or a program that it runs, starts: NODE_OPTIONS names it. Any version of
// node must be able to read it. It starts recording, or prints why not, and leaves no trace in the program.
'use strict';
(function () {
  var fs = require('fs');

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
    var major = Number(process.versions.node.split('.')[0]);
    if (major < 18 || process.versions.bun) {
      if (own) say('Node ' + process.versions.node + ' is too old, 18 is needed');
      return;
    }
    var addon = { exports: {} };
    try {
      process.dlopen(addon, __dirname + '/weft.node');
    } catch (e) {
      say('node loads no addons here (' + (e.code || String(e.message).split('\n')[0]) + ')');
      return;
    }
    if (addon.exports.watched()) return;
    if (!addon.exports.recording() &&
        (own || !addon.exports.start(env.WEFT_TRACE_FORK, Number(env.WEFT_TRACE_SIZE) || 0)))
      return;
    try {
      require('./promises.js').install(addon.exports);
    } catch (e) {
      say('node ' + process.versions.node + ': ' + String(e && e.message).split('\n')[0]);
    }
  }

  begin();
  // As if we had never been there.
  Object.keys(require.cache).forEach(function (file) {
    if (file.indexOf(__dirname + '/') === 0) delete require.cache[file];
  });
  if (module.parent && module.parent.children) {
    var at = module.parent.children.indexOf(module);
    if (at >= 0) module.parent.children.splice(at, 1);
  }
})();
