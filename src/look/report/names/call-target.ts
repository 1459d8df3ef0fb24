import { rowAt } from '../../index/index-row.js';
import { HTTP } from '../../../spans/read/system-of.js';
import type { RecordedValue } from '../../../spans/span-record.js';
import type { LookIndex } from '../../index/look-index.js';
import { attributesOf } from './recorded-attributes.js';
import { isMethod } from './request-name.js';
import type { TreeSpan } from '../shape/trace-shape.js';

const MAX_LENGTH = 100;
/** Scheme, then host and port. Names and passwords are left out. */
const AUTHORITY = /^[a-z][\w+.-]*:\/\/(?:[^/?#@]*@)?([^/?#@]+)/i;

/** How many records are read for the targets of calls. */
export class TargetBudget {
  #left: number;

  constructor(most: number) {
    this.#left = most;
  }

  take(): boolean {
    return this.#left-- > 0;
  }
}

/** Says whom the calls among some spans have asked, of those that are named by their method alone. */
export function nameTargets(
  index: LookIndex,
  rows: readonly number[],
  spans: readonly TreeSpan[],
  budget: TargetBudget,
  isWanted: (at: number) => boolean = () => true,
): void {
  for (const [at, row] of rows.entries()) {
    const span = spans[at]!;
    if (!isMethod(span.name) || !isWanted(at) || !rowAt(index, row).isCall) continue;
    if (!budget.take()) return;
    span.target = callTarget(index, row);
  }
}

/** Calls of one name that are looked at for their targets. */
const SAMPLES = 32;

/** Calls of one name, some of them taken evenly, and whom they have asked. */
export class SampledCalls {
  #calls: { index: LookIndex; row: number }[] = [];
  #step = 1;
  #seen = 0;

  /** @param row of a call. */
  add(index: LookIndex, row: number): void {
    if (this.#seen++ % this.#step !== 0) return;
    this.#calls.push({ index, row });
    if (this.#calls.length < 2 * SAMPLES) return;
    this.#calls = this.#calls.filter((_, i) => i % 2 === 0);
    this.#step *= 2;
  }

  /** Sorted, each once. */
  get targets(): string[] {
    const targets = this.#calls.map(({ index, row }) => callTarget(index, row));
    return [...new Set(targets.filter((each) => each !== null))].sort();
  }
}

/**
 * `stock:8080`: host and port that a call has asked. Null: it is not named by a method of HTTP, or does not say them.
 */
export function callTarget(index: LookIndex, row: number): string | null {
  const { name, system } = rowAt(index, row);
  // Redis has a GET of its own.
  if (!isMethod(name) || (system !== null && system !== HTTP)) return null;
  const valueOf = attributesOf(index, row);
  const address = valueOf('server.address');
  const port = valueOf('server.port');
  const host =
    typeof address === 'string' && address !== ''
      ? withPort(address, port)
      : AUTHORITY.exec(String(valueOf('url.full') ?? '').slice(0, 4096))?.[1];
  if (host === undefined) return null;
  return host.length > MAX_LENGTH ? `${host.slice(0, MAX_LENGTH)}…` : host;
}

function withPort(address: string, port: RecordedValue | undefined): string {
  if (port === undefined) return address;
  const isBareIpv6 = address.includes(':') && !address.startsWith('[');
  return `${isBareIpv6 ? `[${address}]` : address}:${String(port)}`;
}
