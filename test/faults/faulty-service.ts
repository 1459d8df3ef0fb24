import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { TargetFault } from '../../src/core/ring/target-health.js';
import type { TraceStats } from '../../src/heph/index.js';
import type { ProcessStats } from '../../src/ovni/index.js';

const script = fileURLToPath(new URL('./fixtures/faulty-service.mjs', import.meta.url));

export interface Stats {
  n: number;
  heph: TraceStats;
  ovni: ProcessStats;
}

interface Report {
  reply?: unknown;
  thrown?: { code: string; message: string };
  warning?: string;
  message?: string;
  fault?: TargetFault;
}

/** The service of test/faults/fixtures/faulty-service.mjs, which takes one command a line. */
export class FaultyService {
  /** Codes of the warnings that it was given, in order. */
  readonly warnings: string[] = [];
  readonly messages: string[] = [];
  readonly faults: TargetFault[] = [];
  stderr = '';
  readonly #child: ChildProcess;
  readonly #ended: Promise<unknown[]>;
  #answer: ((report: Report) => void) | undefined;
  #news: (() => void)[] = [];

  /**
   * @param input what the fixture reads from its command line.
   * @param shell what to run first in the same process, such as `ulimit -n 40`.
   */
  constructor(
    input: {
      heph?: unknown;
      ovniDir?: string;
      version?: 1 | 3;
      options?: object;
      handler?: boolean;
    },
    settings: {
      shell?: string;
      wrapper?: string[];
      env?: Record<string, string>;
      cwd?: string;
    } = {},
  ) {
    const { shell = 'true', wrapper = [], env = {}, cwd } = settings;
    this.#child = spawn(
      'bash',
      [
        '-c',
        `${shell}; exec "$@"`,
        'bash',
        ...wrapper,
        process.execPath,
        script,
        JSON.stringify(input),
      ],
      {
        stdio: ['pipe', 'pipe', 'pipe'],
        env: { ...process.env, ...env },
        ...(cwd === undefined ? {} : { cwd }),
      },
    );
    this.#ended = once(this.#child, 'close');
    this.#child.stderr!.setEncoding('utf8').on('data', (text: string) => (this.stderr += text));
    createInterface({ input: this.#child.stdout! }).on('line', (line) => {
      this.#take(JSON.parse(line) as Report);
    });
  }

  get pid(): number {
    return this.#child.pid!;
  }

  #take(report: Report): void {
    if (report.warning !== undefined) {
      this.warnings.push(report.warning);
      this.messages.push(report.message ?? '');
    }
    if (report.fault !== undefined) this.faults.push(report.fault);
    if (report.reply !== undefined || report.thrown !== undefined) this.#answer?.(report);
    for (const resolve of this.#news.splice(0)) resolve();
  }

  async #report(name: string, argument?: unknown): Promise<Report> {
    const answer = new Promise<Report>((resolve, reject) => {
      this.#answer = resolve;
      void this.#ended.then(([code, signal]) => {
        reject(new Error(`the service ended with ${String(code ?? signal)}: ${this.stderr}`));
      });
    });
    this.#child.stdin!.write(`${JSON.stringify([name, argument])}\n`);
    return answer;
  }

  /** Does what the line says; what the service throws is thrown here. */
  async do<T = unknown>(name: string, argument?: unknown): Promise<T> {
    const { reply, thrown } = await this.#report(name, argument);
    if (thrown !== undefined) throw Object.assign(new Error(thrown.message), { code: thrown.code });
    return reply as T;
  }

  emit(count: number): Promise<{ n: number; longest: number }> {
    return this.do('emit', count);
  }

  stats(): Promise<Stats> {
    return this.do('stats');
  }

  /** Resolves once the service has reported what `enough` waits for. */
  async told(enough: () => boolean): Promise<void> {
    while (!enough()) await new Promise<void>((resolve) => this.#news.push(resolve));
  }

  /** Asks for the counts until `enough` is content. */
  async until(enough: (stats: Stats) => boolean): Promise<Stats> {
    for (;;) {
      const stats = await this.stats();
      if (enough(stats)) return stats;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }

  kill(signal: NodeJS.Signals): void {
    this.#child.kill(signal);
  }

  /** Ends the input, and with it the service; its exit code and signal. */
  async end(): Promise<{ code: number | null; signal: string | null }> {
    this.#child.stdin!.end();
    return this.ended();
  }

  async ended(): Promise<{ code: number | null; signal: string | null }> {
    const [code, signal] = (await this.#ended) as [number | null, string | null];
    return { code, signal };
  }
}
