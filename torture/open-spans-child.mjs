// Starts spans in order and ends them in order, some of them open at a time, until it is killed.
//
//   node torture/open-spans-child.mjs TRACE OPEN [PAUSE_MS]

import { writeSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { configure, flush, startSpan } from 'tracewright/spans';

const [, , target, open, pauseMs] = process.argv;
configure({ target, service: 'torture' });

const spans = [];
let next = 0;
for (;;) {
  for (let turn = 0; turn < (pauseMs === undefined ? 5000 : 500); turn++) {
    const span = startSpan(`work ${next % 3}`, { n: next, text: 'x'.repeat(next % 40) });
    // Attributes that come later count at once.
    if (next % 2 === 1) span.set('late', `${next}`).set('odd', true);
    spans.push(span);
    next += 1;
    if (spans.length > Number(open)) spans.shift().end();
  }
  await flush();
  // Acknowledged: these have ended and are in the file.
  writeSync(1, `${next - spans.length}\n`);
  if (pauseMs !== undefined) await sleep(Number(pauseMs));
}
