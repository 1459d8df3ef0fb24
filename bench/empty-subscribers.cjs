// Preloaded into a service: subscribers that do nothing, on the channels of the libraries that BENCH_CHANNELS lists.

const { subscribe } = require('node:diagnostics_channel');

for (const channel of process.env.BENCH_CHANNELS.split(',')) {
  for (const event of ['start', 'end', 'asyncEnd']) {
    subscribe(`tracing:${channel}:${event}`, () => undefined);
  }
}
