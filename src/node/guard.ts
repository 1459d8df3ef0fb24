import { TracewrightError } from '../core/errors.js';
import { subscribe } from './requests/channels.js';
import { reasonOf, warn } from './warning.js';

/** Time before an operation that failed with a system error is tried again. */
export const PAUSE_MS = 2000;

/**
 * Keeps errors of an observer away from the service. An error ends the observation with one warning. A
 * system error, such as a full disk, only interrupts it.
 */
export class Guard {
  /** Whether the observer runs. */
  on = true;
  readonly #what: string;
  #warned = false;

  /** @param what is traced, for the warning: `HTTP requests`. */
  constructor(what: string) {
    this.#what = what;
  }

  /** Handles an error of the observer. */
  fail(error: unknown): void {
    if (error instanceof TracewrightError) {
      // One event was too large. The trace counts it.
      if (error.field === 'event') return;
      // The trace has ended, by a signal or by the service itself: no warning.
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
      if (this.on !== true) return;
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
