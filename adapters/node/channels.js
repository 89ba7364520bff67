// SPDX-License-Identifier: ISC
// Diagnostics channels on which node, or the program, publishes what it does. Publishers do not notice who listens.
'use strict';

const channels = require('diagnostics_channel');

// Calls the functions of [name, function] with what is published on these channels. Returns a function that stops that.
function listen(list, stepAside) {
  const stops = list.map(([name, hear]) => {
    const guarded = (message) => {
      try {
        hear(message);
      } catch (e) {
        stepAside(e);
      }
    };
    if (!channels.subscribe) { // before 18.7
      const channel = channels.channel(name);
      channel.subscribe(guarded);
      return () => channel.unsubscribe(guarded);
    }
    channels.subscribe(name, guarded);
    return () => channels.unsubscribe(name, guarded);
  });
  return () => stops.forEach((stop) => stop());
}

module.exports = { listen };
