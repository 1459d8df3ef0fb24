import { subscribe } from 'node:diagnostics_channel';
import { TracewrightError } from '../core/errors.js';
import { reasonOf, warn } from './warning.js';

/**
 * Stands between an observer and the service: what the observer throws ends the observing, with one
 * warning, and never reaches the service.
 */
export class Guard {
  /** Whether to go on observing. */
  on = true;
  readonly #what: string;

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
    }
    if (!this.on) return;
    this.on = false;
    warn(`${this.#what} are no longer traced: ${reasonOf(error)}`);
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
