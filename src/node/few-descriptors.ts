import { isRequired } from './enabled.js';
import { LEAST_FREE } from './free-descriptors.js';
import { warn } from './warning.js';

/** Says that too few descriptors are free for a trace and a service. */
export function forgoTrace(free: number): void {
  const reason =
    `${free} file descriptors are free, and a traced service needs ${LEAST_FREE}; raise its ` +
    'limit (ulimit -n, LimitNOFILE)';
  if (isRequired()) throw new Error(reason);
  warn(`this process is not traced: ${reason}`);
}
