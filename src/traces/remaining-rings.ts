import { readdirSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type { Finding } from '../core/finding.js';
import { filesBelow } from '../core/recovery/recover-rings.js';

/** The rings in a trace's directory: its process is running, or was killed. */
function* remainingRings(path: string): Generator<string, void> {
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

/** Whether rings may still contain a part of the trace. */
export function hasRemainingRings(path: string): boolean {
  return remainingRings(path).next().done !== true;
}

/** A warning for every ring that may contain a part of the trace. */
export function* ringFindings(path: string): Generator<Finding, void> {
  for (const ring of remainingRings(path)) {
    yield {
      severity: 'warning',
      rule: 'ring-left',
      message:
        'this ring may contain a part of the trace. Its process is running, or was killed: then ' +
        'complete the trace with `tracewright recover`',
      path: ring,
    };
  }
}
