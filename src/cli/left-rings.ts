import { readdirSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type { Finding } from '../core/finding.js';
import { filesBelow } from '../core/recovery.js';

/** The rings that lie in or beside a trace: its process runs, or has been killed. */
function* leftRings(path: string): Generator<string, void> {
  if (statSync(path).isDirectory()) {
    yield* filesBelow(path, (name) => name.startsWith('.') && name.endsWith('.ring'));
    return;
  }
  const directory = dirname(path);
  for (const name of readdirSync(directory)) {
    if (name.startsWith(`.${basename(path)}.`) && name.endsWith('.ring')) {
      yield join(directory, name);
    }
  }
}

/** A warning for every ring that holds, or may hold, a part of the trace. */
export function* ringFindings(path: string): Generator<Finding, void> {
  for (const ring of leftRings(path)) {
    yield {
      severity: 'warning',
      rule: 'ring-left',
      message:
        'a part of the trace may still be in this ring: its process runs, or was killed and `tracewright recover` completes the trace',
      path: ring,
    };
  }
}
