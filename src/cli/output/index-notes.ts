import { listed } from '../../core/listed.js';
import type { LookIndex } from '../../look/index/look-index.js';
import { furtherRuns } from '../../traces/further-runs.js';
import { sharedServices } from '../../traces/shared-services.js';
import { printMessage } from './message.js';

/** Prints what a reader of several services may miss: runs that are not read, and services that share a name. */
export function printIndexNotes(command: string, paths: readonly string[], index: LookIndex): void {
  const print = (text: string): void => {
    printMessage(`tracewright ${command}: ${text}`);
  };
  for (const path of paths) {
    const [first, ...others] = furtherRuns(path, paths);
    if (first === undefined) continue;
    const last = others.at(-1);
    const further = last === undefined ? first : `${first} to ${last}`;
    const named = last === undefined ? first : first.replace(/\d+$/, '[0-9]*');
    print(
      `${path} is one run. Other processes wrote to ${further}, which is not read. ` +
        `To read all: tracewright ${command} ${path} ${named}`,
    );
  }
  for (const [service, programs] of sharedServices(index.sources)) {
    print(
      `${listed(programs)} have the same service name, ${service}. ` +
        'To tell them apart, start each with its own OTEL_SERVICE_NAME',
    );
  }
}
