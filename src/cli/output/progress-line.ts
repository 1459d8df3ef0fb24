import type { Progress } from '../../core/finding.js';
import { terminalText } from '../../core/readable-text.js';

const INTERVAL_MILLISECONDS = 100;
const DEFAULT_COLUMNS = 80;
const ERASE_LINE = '\r\u001b[K';

/** Shows the progress of a long job in one line on standard error, if that is a terminal. */
export class ProgressLine {
  readonly #stream: NodeJS.WriteStream | undefined;
  #shown = false;
  #next = performance.now() + INTERVAL_MILLISECONDS;

  /** @param wanted false if the line would appear between lines of output. */
  constructor(wanted = true, stream: NodeJS.WriteStream = process.stderr) {
    this.#stream = wanted && stream.isTTY ? stream : undefined;
  }

  /** The callback for a job; undefined if nothing is shown. */
  of(label: string): Progress | undefined {
    const stream = this.#stream;
    if (stream === undefined) return undefined;
    return (done, total) => {
      const now = performance.now();
      if (now < this.#next) return;
      this.#next = now + INTERVAL_MILLISECONDS;
      this.#shown = true;
      // The total size of a stream is unknown.
      const amount =
        total === 0
          ? `${(done / 1e6).toFixed(0)} MB`
          : `${String(Math.floor((100 * done) / total)).padStart(3)} %`;
      // A terminal of unknown size reports 0 columns.
      const columns = stream.columns > 0 ? stream.columns : DEFAULT_COLUMNS;
      stream.write(`${ERASE_LINE}${`${amount} ${terminalText(label)}`.slice(0, columns - 1)}`);
    };
  }

  /** Erases the line, before anything else is printed. */
  clear(): void {
    if (!this.#shown) return;
    this.#shown = false;
    this.#stream?.write(ERASE_LINE);
  }
}
