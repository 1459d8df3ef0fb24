import type { Progress } from '../core/finding.js';
import { terminalText } from '../core/terminal-text.js';

const INTERVAL_MILLISECONDS = 100;
const USUAL_COLUMNS = 80;
const ERASE_LINE = '\r\u001b[K';

/** A line on a terminal's standard error that tells how far a long job is; elsewhere, nothing. */
export class ProgressLine {
  readonly #stream: NodeJS.WriteStream | undefined;
  #shown = false;
  #next = performance.now() + INTERVAL_MILLISECONDS;

  /** @param wanted False where the line would get between lines of output. */
  constructor(wanted = true, stream: NodeJS.WriteStream = process.stderr) {
    this.#stream = wanted && stream.isTTY ? stream : undefined;
  }

  /** What to hand to the job; undefined where nothing is shown. */
  of(label: string): Progress | undefined {
    const stream = this.#stream;
    if (stream === undefined) return undefined;
    return (done, total) => {
      const now = performance.now();
      if (now < this.#next) return;
      this.#next = now + INTERVAL_MILLISECONDS;
      this.#shown = true;
      // A stream has no size to take a part of.
      const far =
        total === 0
          ? `${(done / 1e6).toFixed(0)} MB`
          : `${String(Math.floor((100 * done) / total)).padStart(3)} %`;
      // A terminal that was told no size says 0.
      const columns = stream.columns > 0 ? stream.columns : USUAL_COLUMNS;
      stream.write(`${ERASE_LINE}${`${far} ${terminalText(label)}`.slice(0, columns - 1)}`);
    };
  }

  /** Takes the line away, before anything else is printed. */
  clear(): void {
    if (!this.#shown) return;
    this.#shown = false;
    this.#stream?.write(ERASE_LINE);
  }
}
