import { comparableHost } from '../../core/host-name.js';
import { itemsOf } from '../../core/options/switch.js';

/** Which requests carry the trace on, and whose decisions about it hold. */
export interface PropagationPolicy {
  /** Whether a request to a host carries `traceparent`. */
  sendsTrace(host: string): boolean;
  /** Whether it carries the baggage too. */
  sendsBaggage(host: string): boolean;
  /** Whether a caller decides if its trace is recorded. */
  trusts(address: string | undefined): boolean;
}

/** `TRACEWRIGHT_PROPAGATE` as it was read. */
export interface Propagation {
  /** Whether `traceparent` goes to every host. */
  everywhere: boolean;
  /** Hosts that get `traceparent` and baggage: names, or `*.` and the end of names. */
  hosts: readonly string[];
}

/** `TRACEWRIGHT_TRUST` as it was read: addresses, or all of them. */
export type Trust = 'all' | readonly string[];

const HOST = /^(?:\*\.)?[\w-]+(?:\.[\w-]+)*$|^\[?[\da-f:]+\]?$/i;

/** `auto`, `off`, hosts, or `auto` and hosts; undefined: neither. */
export function parsePropagation(text: string): Propagation | undefined {
  const items = itemsOf(text.toLowerCase());
  if (items.length === 1 && items[0] === 'off') return { everywhere: false, hosts: [] };
  const hosts = items.filter((item) => item !== 'auto');
  if (items.length === 0 || hosts.some((host) => host === 'off' || !HOST.test(host))) {
    return undefined;
  }
  return { everywhere: hosts.length < items.length, hosts };
}

/** `loopback`, `all`, `none`, or addresses; undefined: neither. */
export function parseTrust(text: string): Trust | undefined {
  const items = itemsOf(text.toLowerCase());
  if (items.length === 1 && items[0] === 'all') return 'all';
  if (items.length === 1 && items[0] === 'none') return [];
  const valid = items.every((item) => item === LOOPBACK || /^[\da-f.:]+$/.test(item));
  return items.length > 0 && valid ? items : undefined;
}

const LOOPBACK = 'loopback';
const LOOPBACK_ADDRESS = /^(?:127\.\d+\.\d+\.\d+|::1)$/;

function matches(hosts: readonly string[], host: string): boolean {
  const name = comparableHost(host);
  return hosts.some((each) =>
    each.startsWith('*.') ? name.endsWith(each.slice(1)) : name === each,
  );
}

/** What the settings mean for requests. */
export function propagationPolicy(
  { everywhere, hosts: given }: Propagation,
  trust: Trust,
): PropagationPolicy {
  const hosts = given.map(comparableHost);
  const listed = (host: string): boolean => hosts.length > 0 && matches(hosts, host);
  return {
    sendsTrace: (host) => everywhere || listed(host),
    sendsBaggage: listed,
    trusts(address) {
      if (trust === 'all') return true;
      // A unix socket has no address, and is of this machine.
      const plain = (address ?? '127.0.0.1').replace(/^::ffff:/, '');
      return trust.includes(plain) || (trust.includes(LOOPBACK) && LOOPBACK_ADDRESS.test(plain));
    },
  };
}
