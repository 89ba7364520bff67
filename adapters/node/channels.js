// SPDX-License-Identifier: ISC
// Channels on which node, or the program, says what it does. Whoever speaks does not notice who listens.
'use strict';

const channels = require('diagnostics_channel');

// Calls the functions of [name, function] with what is said on these channels, until what is returned is called.
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
