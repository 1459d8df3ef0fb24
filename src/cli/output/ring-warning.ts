import type { FoundTrace } from '../../traces/find-traces.js';
import { RemainingRings, Writers } from '../../traces/remaining-rings.js';
import { printMessage } from './message.js';

/** Warns a reader about traces that may be incomplete. */
export class RingWarning {
  readonly #command: string;
  readonly #rings = new RemainingRings();

  /** @param command that reads the traces. */
  constructor(command: string) {
    this.#command = command;
  }

  /** Prints a message if rings may contain a part of the trace. */
  printFor(trace: FoundTrace): void {
    const { path } = trace;
    const rings = [...this.#rings.of(trace)];
    const writers = new Writers(rings);
    if (writers.pids.length > 0) {
      this.#print(`${writers.description} writing ${path}: its latest records are still missing`);
    }
    if (rings.some(({ writer }) => writer === undefined)) {
      this.#print(
        `rings contain a part of ${path}, whose process was killed: ` +
          `complete it with \`tracewright recover ${path}\``,
      );
    }
  }

  #print(text: string): void {
    printMessage(`tracewright ${this.#command}: ${text}`);
  }
}
