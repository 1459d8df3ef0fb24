import type { TraceState } from '@opentelemetry/api';
import { checkTraceState } from '../spans/context/trace-context.js';

/** W3C's `tracestate` as the API shows it. It does not change: `set` and `unset` return another one. */
export class TraceStateText implements TraceState {
  readonly #text: string;

  /** @param text is valid. */
  constructor(text: string) {
    this.#text = text;
  }

  set(key: string, value: string): TraceState {
    const others = this.#members().filter((member) => !member.startsWith(`${key}=`));
    const text = checkTraceState([`${key}=${value}`, ...others].slice(0, 32).join(','));
    // What violates W3C's rules changes nothing.
    return text === '' ? this : new TraceStateText(text);
  }

  unset(key: string): TraceState {
    return new TraceStateText(
      this.#members()
        .filter((member) => !member.startsWith(`${key}=`))
        .join(','),
    );
  }

  get(key: string): string | undefined {
    const member = this.#members().find((each) => each.startsWith(`${key}=`));
    return member?.slice(key.length + 1);
  }

  serialize(): string {
    return this.#text;
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
