// Writes a trace whose spans are the longer the farther they are from one moment: whatever the zoom
// around it, about as many of them are visible.
//
//   node bench/view-moments.mjs OUT NS     NS: the moment, in ns since 1970

import { configure, flush, shutdown, startSpan } from 'tracewright/spans';

const [, , target = '', moment = '0'] = process.argv;
const LANES = 48;
/** How much farther each span reaches than the one before it. */
const GROWTH = 1.09;
/** The nearest and the farthest, in ns from the moment. */
const NEAREST = 40;
const FARTHEST = 1.79e12;

configure({ target, service: 'moments' });
const at = BigInt(moment);
for (let lane = 0; lane < LANES; lane++) {
  let edge = NEAREST * GROWTH ** (lane / LANES);
  for (let number = 0; edge * GROWTH < FARTHEST; number++) {
    const next = edge * GROWTH;
    for (const side of [-1, 1]) {
      const [from, to] = [edge, next].map((each) => at + BigInt(Math.round(side * each)));
      const startTime = side < 0 ? to : from;
      const name = `step ${(number + lane) % 23}`;
      const span = startSpan(name, { lane, number }, { startTime, parent: null });
      span.end(side < 0 ? from : to);
    }
    edge = next;
  }
  await flush();
}
await shutdown();
