import { subscribe } from 'node:diagnostics_channel';
import { TracewrightError } from '../core/errors.js';
import { reasonOf, warn } from './warning.js';

/** Until what the system has refused is tried again. */
export const PAUSE_MS = 2000;

/**
 * Is between an observer and the service: what the observer throws ends the observing, with one
 * warning, and never reaches the service. What the system refuses (a full disk, say) only
 * interrupts it.
 */
export class Guard {
  /** Whether to go on observing. */
  on = true;
  readonly #what: string;
  #warned = false;

  /** @param what is traced, for the warning: `HTTP requests`. */
  constructor(what: string) {
    this.#what = what;
  }

  /** Takes what an observer has thrown. */
  fail(error: unknown): void {
    if (error instanceof TracewrightError) {
      // One event that the target cannot hold; the trace counts it, and the next one will fit.
      if (error.field === 'event') return;
      // The trace has ended, by a signal or by the service itself, which is nothing to complain of.
      if (error.code === 'ERR_CLOSED' || error.code === 'ERR_ORDER') this.on = false;
      if (this.on && error.code === 'ERR_SYSTEM') {
        this.#pause(error);
        return;
      }
    }
    if (!this.on) return;
    this.on = false;
    warn(`${this.#what} are no longer traced: ${reasonOf(error)}`);
  }

  #pause(error: TracewrightError): void {
    this.on = false;
    setTimeout(() => {
      this.on = true;
    }, PAUSE_MS).unref();
    if (this.#warned) return;
    this.#warned = true;
    warn(`${this.#what} are not traced until the system allows it: ${reasonOf(error)}`);
  }

  /** `observe`, guarded: for a subscriber of a diagnostics channel or a listener. */
  wrap<Message>(observe: (message: Message) => void): (message: Message) => void {
    return (message) => {
      if (!this.on) return;
      try {
        observe(message);
      } catch (error) {
        this.fail(error);
      }
    };
  }

  /** Subscribes to a diagnostics channel, which publishes messages of a documented shape. */
  subscribe(channel: string, observe: (message: never) => void): void {
    subscribe(channel, this.wrap(observe) as (message: unknown) => void);
  }
}
