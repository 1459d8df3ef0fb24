import { isRequired } from './enabled.js';
import { warn } from './warning.js';

/** Says that too few descriptors are free for a trace and a service, which need `least`. */
export function forgoTrace(free: number, least: number): void {
  const reason =
    `${free} file descriptors are free, and a traced service needs ${least}; raise its ` +
    'limit (ulimit -n, LimitNOFILE)';
  if (isRequired()) throw new Error(reason);
  warn(`this process is not traced: ${reason}`);
}
