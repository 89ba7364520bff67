// SPDX-License-Identifier: ISC
// What both ways of coming into a program need: before it begins (weft.js), and while it runs (late.js). Any version of
// node must be able to read it.
'use strict';

// Why this node is not recorded; '' if it is.
exports.unfit = function () {
  var major = Number(process.versions.node.split('.')[0]);
  return major < 18 || process.versions.bun ? 'Node ' + process.versions.node + ' is too old, 18 is needed' : '';
};

// The addon; or throws a text that says why there is none.
exports.load = function () {
  var addon = { exports: {} };
  try {
    process.dlopen(addon, __dirname + '/weft.node');
  } catch (e) {
    throw 'node loads no addons here (' + (e.code || String(e.message).split('\n')[0]) + ')';
  }
  return addon.exports;
};

// As if we had never been there.
exports.forget = function (module) {
  Object.keys(require.cache).forEach(function (file) {
    if (file.indexOf(__dirname + '/') === 0) delete require.cache[file];
  });
  if (module.parent && module.parent.children) {
    var at = module.parent.children.indexOf(module);
    if (at >= 0) module.parent.children.splice(at, 1);
  }
};
