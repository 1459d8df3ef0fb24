import { comparableHost } from '../../core/host-name.js';
import type { Hosts } from '../../core/settings/kinds.js';

/** Which requests carry the trace on, and whose decisions about it hold. */
export interface PropagationPolicy {
  /** Whether a request to a host carries `traceparent`. */
  sendsTrace(host: string): boolean;
  /** Whether it carries the baggage too. */
  sendsBaggage(host: string): boolean;
  /** Whether a caller decides if its trace is recorded. */
  trusts(address: string | undefined): boolean;
}

const LOOPBACK = 'loopback';
const LOOPBACK_ADDRESS = /^(?:127\.\d+\.\d+\.\d+|::1)$/;

function matches(hosts: readonly string[], host: string): boolean {
  const name = comparableHost(host);
  return hosts.some((each) =>
    each.startsWith('*.') ? name.endsWith(each.slice(1)) : name === each,
  );
}

/**
 * Whom requests take context from, and whom they send it to.
 *
 * @param trust callers whose decisions hold: addresses, `loopback` or `all`.
 */
export function propagationPolicy(
  { everywhere, hosts: given }: Hosts,
  trust: readonly string[],
): PropagationPolicy {
  const hosts = given.map(comparableHost);
  const listed = (host: string): boolean => hosts.length > 0 && matches(hosts, host);
  return {
    sendsTrace: (host) => everywhere || listed(host),
    sendsBaggage: listed,
    trusts(address) {
      if (trust.includes('all')) return true;
      // A unix socket has no address, and is of this machine.
      const plain = (address ?? '127.0.0.1').replace(/^::ffff:/, '');
      return trust.includes(plain) || (trust.includes(LOOPBACK) && LOOPBACK_ADDRESS.test(plain));
    },
  };
}
