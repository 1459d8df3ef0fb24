import { hasCode } from '../core/files/system-error.js';
import { recoverTrace } from '../heph/read/recover.js';
import { faultOf } from './errors.js';
import type { ShipperOptions } from './shipper-options.js';

/** Completes a trace of a dead process on the disk. What its rings held was read, and is not read again. */
export function recoverDead(
  path: string,
  { ringDirs, onFault, onMessage }: Pick<ShipperOptions, 'ringDirs' | 'onFault' | 'onMessage'>,
): void {
  for (const ringDir of ringDirs.length === 0 ? [undefined] : ringDirs) {
    try {
      const { streams, faults } = recoverTrace(path, { waitMs: 0, ringDir });
      for (const fault of faults) onFault(fault);
      if (streams.length > 0) onMessage(`${path} is recovered`);
    } catch (error) {
      // Another process recovers it, or writes to it again.
      const isBusy = hasCode(error, 'ERR_TIMEOUT') || hasCode(error, 'ERR_ORDER');
      if (!isBusy) onFault(faultOf(path, error));
    }
  }
}
