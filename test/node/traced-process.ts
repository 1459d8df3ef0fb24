import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll } from 'vitest';

const fixtures = new URL('./fixtures/', import.meta.url);
const register = fileURLToPath(new URL('../../dist/node/register.js', import.meta.url));

/** The settings of a traced process. */
export type Hook = '--import' | '-r' | 'NODE_OPTIONS' | 'none';

export interface Ending {
  code: number | null;
  signal: NodeJS.Signals | null;
  stdout: string;
  stderr: string;
}

const directories: string[] = [];
const processes: TracedProcess[] = [];

afterAll(async () => {
  // A test that failed has left its own.
  for (const process of processes) process.kill('SIGKILL');
  await Promise.all(processes.map((process) => process.ended()));
  for (const directory of directories) rmSync(directory, { recursive: true, force: true });
});

/** A new directory that is removed after the tests of the file. */
export function temporaryDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), 'tracewright-node-'));
  directories.push(directory);
  return directory;
}

/** A fixture in a process of its own, traced into a directory of its own. */
export class TracedProcess {
  /** TRACEWRIGHT_DIR of the process, unless its environment was given another. */
  readonly directory = join(temporaryDirectory(), 'run');
  readonly #child: ChildProcess;
  readonly #ended: Promise<Ending>;
  #stdout = '';
  #stderr = '';
  #waiting: (() => void)[] = [];

  constructor(
    script: string,
    options: {
      hook?: Hook;
      env?: Record<string, string>;
      flags?: string[];
      args?: string[];
      cwd?: string;
      /** A command that runs what follows it, such as `unshare`. */
      wrapper?: string[];
    } = {},
  ) {
    const { hook = '--import', env = {}, flags = [], args = [], cwd, wrapper = [] } = options;
    const loading = hook === '--import' || hook === '-r' ? [hook, register] : [];
    const file = fileURLToPath(new URL(script, fixtures));
    const [command, ...rest] = [...wrapper, process.execPath, ...loading, ...flags, file, ...args];
    this.#child = spawn(command!, rest, {
      env: {
        PATH: process.env['PATH'],
        TRACEWRIGHT_DIR: this.directory,
        TRACEWRIGHT_QUIET: '1',
        // Where many tests run at once, any loop stalls, and any collection is long now and then.
        TRACEWRIGHT_STALL_MS: 'off',
        TRACEWRIGHT_GC_MS: 'off',
        ...(hook === 'NODE_OPTIONS' ? { NODE_OPTIONS: `--import ${register}` } : {}),
        ...env,
      },
      stdio: ['ignore', 'pipe', 'pipe'],
      ...(cwd === undefined ? {} : { cwd }),
    });
    processes.push(this);
    this.#child.stdout!.setEncoding('utf8').on('data', (text: string) => {
      this.#stdout += text;
      this.#changed();
    });
    this.#child.stderr!.setEncoding('utf8').on('data', (text: string) => {
      this.#stderr += text;
      this.#changed();
    });
    this.#ended = new Promise((resolve, reject) => {
      this.#child.on('error', reject);
      this.#child.on('close', (code, signal) => {
        this.#changed();
        resolve({ code, signal, stdout: this.#stdout, stderr: this.#stderr });
      });
    });
  }

  get pid(): number {
    return this.#child.pid!;
  }

  /** Resolves once the process has printed what the pattern matches. */
  printed(pattern: RegExp): Promise<RegExpExecArray> {
    return this.#printed(pattern, () => this.#stdout);
  }

  /** Resolves once the process has warned of what the pattern matches. */
  warned(pattern: RegExp): Promise<RegExpExecArray> {
    return this.#printed(pattern, () => this.#stderr);
  }

  async #printed(pattern: RegExp, output: () => string): Promise<RegExpExecArray> {
    for (;;) {
      const found = pattern.exec(output());
      if (found !== null) return found;
      if (this.#child.exitCode !== null || this.#child.signalCode !== null) {
        throw new Error(`ended without ${pattern.source}: ${this.#stdout}${this.#stderr}`);
      }
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    }
  }

  /** The port that the fixture listens on. */
  async port(): Promise<number> {
    return Number((await this.printed(/^port (\d+)$/m))[1]);
  }

  /** The body of a response of the fixture. */
  async get(path: string): Promise<string> {
    const response = await fetch(`http://127.0.0.1:${await this.port()}${path}`);
    return response.text();
  }

  /** Like `get`; resolves once the fixture is done with the response, too. */
  async serve(path: string): Promise<string> {
    const body = await this.get(path);
    await this.printed(new RegExp(`^done ${path.replace(/\?.*/, '')}$`, 'm'));
    return body;
  }

  kill(signal: NodeJS.Signals): void {
    this.#child.kill(signal);
  }

  #changed(): void {
    for (const resolve of this.#waiting.splice(0)) resolve();
  }

  /** Resolves when the process has ended and its output is read. */
  ended(): Promise<Ending> {
    return this.#ended;
  }
}
