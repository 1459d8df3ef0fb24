import type { OnFault } from '../core/fault.js';
import type { FoundTrace } from '../traces/find-traces.js';
import { RemainingRings, Writers } from '../traces/remaining-rings.js';
import { TraceViews } from '../traces/trace-views.js';
import { printMessage, UsageError } from './command.js';
import type { ValuesOf } from './command.js';

/** Options of the subcommands that read rings. */
export const ringOptions = {
  'no-rings': { type: 'boolean' },
  'ring-dir': { type: 'string', multiple: true },
} as const;

/** Their values on the command line. */
type RingValues = ValuesOf<typeof ringOptions>;

/** Lines of a help text about these options. */
export const ringHelp = `  --no-rings    read the files alone. Otherwise traces are read with the rings
                that feed them: up to now if their process is alive, as recover
                completes them if it was killed. Nothing is changed
  --ring-dir DIR
                a directory with rings of dead processes; can be repeated
`;

/** How a subcommand reads rings. */
export interface RingReading {
  isOff: boolean;
  ringDirs: readonly string[];
}

/** @throws UsageError when both are used. */
export function checkRings(values: RingValues): RingReading {
  const isOff = values['no-rings'] === true;
  const ringDirs = values['ring-dir'] ?? [];
  if (isOff && ringDirs.length > 0) {
    throw new UsageError('--no-rings and --ring-dir cannot be used together');
  }
  return { isOff, ringDirs };
}

/** Shows traces with their rings to what reads them, and prints what is unusual about them. */
export class RingReader {
  readonly #command: string;
  readonly #views: TraceViews | undefined;
  readonly #rings = new RemainingRings();
  readonly #onFault: OnFault;

  /**
   * @param command that reads the traces.
   * @param onFault takes what is wrong with rings; the traces are shown without them.
   */
  constructor(command: string, { isOff, ringDirs }: RingReading, onFault: OnFault) {
    this.#command = command;
    this.#onFault = onFault;
    this.#views = isOff ? undefined : new TraceViews(ringDirs);
  }

  /** Shows a trace as its rings complete it, until this is closed. */
  show(trace: FoundTrace): void {
    if (this.#views === undefined) {
      this.#warn(trace);
      return;
    }
    const { path } = trace;
    const view = this.#views.show(trace);
    if (view === undefined) return;
    const { pids, state, faults } = view;
    if (state === 'growing') {
      const writers =
        pids.length === 1 ? `process ${pids[0]!} is` : `processes ${pids.join(', ')} are`;
      this.#print(`${writers} writing ${path}: this is what it has so far`);
    } else if (state === 'died') {
      this.#print(
        `the process of ${path} was killed: this is what \`tracewright recover ${path}\` makes of it`,
      );
    }
    for (const fault of faults) this.#onFault(fault);
  }

  close(): void {
    this.#views?.close();
  }

  /** If rings may contain a part of a trace. */
  #warn(trace: FoundTrace): void {
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
