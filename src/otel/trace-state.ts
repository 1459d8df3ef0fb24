import type { TraceState } from '@opentelemetry/api';
import { checkTraceState } from '../spans/context/trace-context.js';
import { countWrongArgument } from './wrong-arguments.js';

function isMember(member: string, key: unknown): boolean {
  return typeof key === 'string' && member.startsWith(`${key}=`);
}

/** W3C's `tracestate` as the API shows it. It does not change: `set` and `unset` return another one. */
export class TraceStateText implements TraceState {
  readonly #text: string;

  /** @param text is valid. */
  constructor(text: string) {
    this.#text = text;
  }

  set(key: string, value: string): TraceState {
    if (typeof key !== 'string' || typeof value !== 'string') {
      countWrongArgument();
      return this;
    }
    const others = this.#others(key);
    const text = checkTraceState([`${key}=${value}`, ...others].slice(0, 32).join(','));
    // What violates W3C's rules changes nothing.
    return text === '' ? this : new TraceStateText(text);
  }

  unset(key: string): TraceState {
    return new TraceStateText(this.#others(key).join(','));
  }

  get(key: string): string | undefined {
    const member = this.#members().find((each) => isMember(each, key));
    return member?.slice(key.length + 1);
  }

  serialize(): string {
    return this.#text;
  }

  /** @param key of any type: none has one that is no string. */
  #others(key: unknown): string[] {
    return this.#members().filter((member) => !isMember(member, key));
  }

  #members(): string[] {
    return this.#text === '' ? [] : this.#text.split(',');
  }
}

/** The text of a `tracestate` of the API; empty if it is not valid. */
export function traceStateText(state: unknown): string {
  if (state instanceof TraceStateText) return state.serialize();
  if (typeof state !== 'object' || state === null) return '';
  const text: unknown = (state as TraceState).serialize();
  return typeof text === 'string' ? checkTraceState(text) : '';
}
