import { hasRemainingRings } from '../../traces/remaining-rings.js';
import { printMessage } from './message.js';

/** Warns a reader that a trace may be incomplete. */
export function warnOfRings(command: string, path: string): void {
  if (!hasRemainingRings(path)) return;
  printMessage(
    `tracewright ${command}: a part of ${path} may still be in its rings. Its process is running, ` +
      `or was killed: then complete the trace with \`tracewright recover ${path}\``,
  );
}
