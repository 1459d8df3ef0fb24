// Preloaded into a service: dd-trace without an agent. The package is that of the working directory. With
// BENCH_SPANS it counts spans, and writes their number there at the end.

const { writeFileSync } = require('node:fs');
const { createRequire } = require('node:module');

const tracer = createRequire(`${process.cwd()}/package.json`)('dd-trace').init();
// It records the router and each function of Express, or none of them. As many spans as the others: one.
globalThis.recordHandler = (handler) => (request, response) =>
  tracer.trace('express.handler', () => handler(request, response));
// An import of the program sees what is patched now.
require('node:http');

const file = process.env.BENCH_SPANS;
if (file !== undefined) {
  const { subscribe } = require('node:diagnostics_channel');
  let count = 0;
  subscribe('dd-trace:span:finish', () => {
    count += 1;
  });
  process.once('exit', () => {
    writeFileSync(file, String(count));
  });
}
