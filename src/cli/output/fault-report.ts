import { counted } from '../../core/readable-text.js';
import { TraceFormatError } from '../../core/errors.js';
import type { TracewrightError } from '../../core/errors.js';
import { EXIT_DONE, EXIT_FAULTY, printMessage } from '../command.js';

/** Faults of one file that are printed, unless set; further ones are counted. */
const MOST_OF_A_FILE = 20;

/**
 * Reports what a command cannot read: it prints file and byte, reads on, and ends with exit code 1.
 */
export class FaultReport {
  readonly #command: string;
  readonly #before: (() => void) | undefined;
  readonly #mostOfFile: number;
  readonly #ofFile = new Map<string, number>();

  /**
   * @param before called before a line is printed: it clears a progress line.
   * @param mostOfFile faults of one file that are printed.
   */
  constructor(
    command: string,
    { before, mostOfFile = MOST_OF_A_FILE }: { before?: () => void; mostOfFile?: number } = {},
  ) {
    this.#command = command;
    this.#before = before;
    this.#mostOfFile = mostOfFile;
  }

  /** Takes a fault; an `OnFault`. */
  readonly add = (fault: TracewrightError): void => {
    this.addText(
      fault instanceof TraceFormatError ? fault.path : String(fault.value),
      fault.message,
    );
  };

  /** Takes a fault of a file in words. */
  addText(path: string, message: string): void {
    const count = (this.#ofFile.get(path) ?? 0) + 1;
    this.#ofFile.set(path, count);
    if (count <= this.#mostOfFile) this.#print(message);
  }

  /** Prints how many faults were not printed. @returns the exit code. */
  end(): number {
    for (const [path, count] of this.#ofFile) {
      const more = count - this.#mostOfFile;
      if (more > 0) this.#print(`${path}: ${counted(more, 'more fault')}`);
    }
    return this.#ofFile.size === 0 ? EXIT_DONE : EXIT_FAULTY;
  }

  #print(text: string): void {
    this.#before?.();
    printMessage(`tracewright ${this.#command}: ${text}`);
  }
}
