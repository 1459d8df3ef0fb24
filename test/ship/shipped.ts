import { spawn, spawnSync } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { allSpans } from '../spans/span-trace.js';
import { main } from '../cli/run-command.js';

const fixture = (name: string): string =>
  fileURLToPath(new URL(`fixtures/${name}`, import.meta.url));
const inFlight = fileURLToPath(new URL('../spans/fixtures/killed-in-flight.mjs', import.meta.url));

/** Leaves the trace of a process that was killed with spans in flight. */
export function killedTrace(target: string, count = 30, env: NodeJS.ProcessEnv = {}): void {
  const { signal } = spawnSync(process.execPath, [inFlight, JSON.stringify({ target, count })], {
    env: { ...process.env, ...env },
  });
  if (signal !== 'SIGKILL') throw new Error('the process was not killed');
}

/** The ids of the spans at a path, as `readSpans` yields them, sorted. */
export async function idsAt(path: string): Promise<string[]> {
  return (await allSpans(path)).map(({ spanId }) => spanId).sort();
}

const children = new Set<ChildProcess>();

/** Kills what a test that failed has left. */
export function endAll(): void {
  for (const child of children) child.kill('SIGKILL');
  children.clear();
}

/** A process that records numbered spans until it is killed. */
export async function recording(options: Record<string, unknown>): Promise<ChildProcess> {
  const child = spawn(process.execPath, [fixture('numbered-spans.mjs'), JSON.stringify(options)], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  children.add(child);
  await once(child.stdout, 'data');
  child.stdout.resume();
  return child;
}

/** A run of `tracewright ship` that goes on until it is ended. */
export class ShipProcess {
  readonly child: ChildProcess;
  output = '';

  constructor(args: string[], env: NodeJS.ProcessEnv = {}) {
    this.child = spawn(process.execPath, [main, 'ship', ...args], {
      env: { ...process.env, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    children.add(this.child);
    for (const stream of [this.child.stdout!, this.child.stderr!]) {
      stream.setEncoding('utf8').on('data', (text: string) => (this.output += text));
    }
  }

  /** Sends a signal, if any, and waits for its end. */
  async end(signal?: NodeJS.Signals): Promise<number | null> {
    if (this.child.exitCode !== null || this.child.signalCode !== null) return this.child.exitCode;
    const exit = once(this.child, 'exit');
    if (signal !== undefined) this.child.kill(signal);
    await exit;
    return this.child.exitCode;
  }
}
