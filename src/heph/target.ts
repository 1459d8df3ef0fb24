import { ownOptions } from '../core/options/argument.js';
import { resolve } from 'node:path';
import { outOfRange, wrongType } from '../core/errors.js';

/** Where a trace goes. */
export type Target =
  | string
  | { file: string }
  | { udp: { host: string; port: number } }
  | { tcp: { host: string; port: number } }
  | { unix: string };

/** A target with its defaults, and the name by which the threads of a process find it. */
export interface CheckedTarget {
  kind: 'file' | 'udp' | 'tcp' | 'unix';
  /** Of files and unix sockets, absolute. */
  path: string;
  host: string;
  port: string;
  key: string;
}

const LIMIT =
  "a file name, 'udp://host:port', 'tcp://host:port', 'unix:/path', or { file }, { udp }, { tcp }, { unix }";
/** sockaddr_un holds this many bytes with its NUL, on the narrowest system. */
const MAX_UNIX_PATH = 103;

function network(kind: 'udp' | 'tcp', host: unknown, port: unknown): CheckedTarget {
  const field = `target.${kind}`;
  if (typeof host !== 'string' || host === '') {
    throw wrongType(`${field}.host`, host, 'a host name or address');
  }
  const limit = 'an integer from 1 to 65535';
  if (typeof port !== 'number') throw wrongType(`${field}.port`, port, limit);
  if (!Number.isInteger(port) || port < 1 || port > 65_535) {
    throw outOfRange(`${field}.port`, port, limit);
  }
  const bare = host.replace(/^\[(.*)\]$/, '$1');
  return { kind, path: '', host: bare, port: String(port), key: `${kind}://${bare}:${port}` };
}

function checkedTarget(kind: 'file' | 'unix', path: unknown): CheckedTarget {
  const field = `target.${kind}`;
  if (typeof path !== 'string' || path === '') throw wrongType(field, path, 'a path');
  if (path.includes('\0')) throw outOfRange(field, path, 'a path without NUL');
  const absolute = resolve(path);
  if (kind === 'unix' && Buffer.byteLength(absolute) > MAX_UNIX_PATH) {
    throw outOfRange(field, path, `a path of at most ${MAX_UNIX_PATH} bytes`);
  }
  return { kind, path: absolute, host: '', port: '', key: `${kind}:${absolute}` };
}

/** Reads a target; a string with `udp://`, `tcp://` or `unix:` names a socket, any other a file. */
export function checkTarget(target: unknown): CheckedTarget {
  if (typeof target === 'string') {
    const url = /^(udp|tcp):\/\/(\[[^\]]*\]|[^:/[\]]+):(\d{1,5})\/?$/.exec(target);
    if (url !== null) return network(url[1] as 'udp' | 'tcp', url[2], Number(url[3]));
    if (/^(udp|tcp):/.test(target)) {
      throw outOfRange(
        'target',
        target,
        `${target.slice(0, 3)}://host:port, with a port from 1 to 65535`,
      );
    }
    if (target.startsWith('unix:')) {
      return checkedTarget('unix', target.slice('unix:'.length).replace(/^\/\/\//, '/'));
    }
    // A file by that name is hardly meant, and would be a surprise.
    if (/^[a-z][a-z\d+.-]*:\/\//i.test(target)) throw outOfRange('target', target, LIMIT);
    return checkedTarget('file', target);
  }
  if (typeof target !== 'object' || target === null) throw wrongType('target', target, LIMIT);
  const own = ownOptions(
    target as Partial<Record<CheckedTarget['kind'], unknown>>,
    ['file', 'tcp', 'udp', 'unix'],
    'target',
  );
  const kinds = Object.entries(own).filter(([, address]) => address !== undefined);
  if (kinds.length > 1) throw outOfRange('target', target, `one of ${LIMIT}`);
  const { file, udp, tcp, unix } = own;
  if (file !== undefined) return checkedTarget('file', file);
  if (unix !== undefined) return checkedTarget('unix', unix);
  for (const [kind, address] of [['udp', udp] as const, ['tcp', tcp] as const]) {
    if (typeof address === 'object' && address !== null) {
      const { host, port } = ownOptions(
        address as { host?: unknown; port?: unknown },
        ['host', 'port'],
        `target.${kind}`,
      );
      return network(kind, host, port);
    }
  }
  throw wrongType('target', target, LIMIT);
}
