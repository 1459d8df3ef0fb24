// Records requests, some slow and some failed, of which only those are kept, and logs what it does, until it is killed.
//
//   node torture/keep-child.mjs TRACE LOG

import { openSync, writeSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { configure, withSpan } from 'tracewright/spans';

const [, , target, logPath] = process.argv;
const log = openSync(logPath, 'a');
configure({
  target,
  service: 'torture',
  keep: { slowerThan: 30, errors: 'any', ratio: 0.05, limit: false, waitingBytes: 1 << 20 },
});

let next = 0;

async function request() {
  const n = next++;
  const isSlow = n % 20 === 7;
  const isFailed = n % 33 === 9;
  const steps = 2 + (n % 5);
  let id = '';
  try {
    await withSpan(
      'GET /work',
      { n },
      async (span) => {
        id = span.ids.trace_id;
        writeSync(log, `begin ${id} ${isSlow || isFailed ? steps : 0}\n`);
        for (let step = 0; step < steps; step++) {
          await withSpan('step', { text: 'x'.repeat((n * 7) % 400) }, () => sleep(isSlow ? 20 : 1));
        }
        writeSync(log, `ending ${id}\n`);
        if (isFailed) throw new Error('failed');
      },
      { kind: 'server' },
    );
  } catch {
    // As it was meant to.
  }
  writeSync(log, `end ${id}\n`);
}

writeSync(1, 'ready\n');
for (let each = 0; each < 50; each++) {
  void (async () => {
    for (;;) await request();
  })();
}
