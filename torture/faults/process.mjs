// A process of child.mjs, as a fault's scenario sees it.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const child = fileURLToPath(new URL('child.mjs', import.meta.url));

/** What the lines say with which a process ends: events, and bytes of those whose number it does not know. */
function lossIn(stderr) {
  const loss = { events: 0, bytes: 0 };
  for (const [, lost] of stderr.matchAll(
    /^tracewright: the trace .* lacks (.*), which are lost/gm,
  )) {
    loss.events += Number(/(\d+) events?(?! of)/.exec(lost)?.[1] ?? 0);
    loss.bytes += Number(/(\d+) bytes/.exec(lost)?.[1] ?? 0);
  }
  return loss;
}

export class RecordingProcess {
  acknowledged = 0;
  #child;
  #lines;
  #ended;
  #stderr = '';

  /** @param descriptors how many the process may have open. */
  constructor(order, { descriptors, env = {} } = {}) {
    const limit = descriptors === undefined ? '' : `ulimit -n ${descriptors}; `;
    const args = ['-c', `${limit}exec "$@"`, 'sh', process.execPath, child, JSON.stringify(order)];
    this.#child = spawn('sh', args, {
      stdio: ['pipe', 'pipe', 'pipe'],
      env: { ...process.env, TRACEWRIGHT_QUIET: '', ...env },
    });
    this.#ended = once(this.#child, 'close');
    this.#child.stderr.setEncoding('utf8').on('data', (text) => (this.#stderr += text));
    this.#lines = createInterface({ input: this.#child.stdout })[Symbol.asyncIterator]();
  }

  get pid() {
    return this.#child.pid;
  }

  get stderr() {
    return this.#stderr;
  }

  async answer() {
    const { value } = await this.#lines.next();
    if (value === undefined) throw new Error(`the process has ended: ${this.#stderr}`);
    return JSON.parse(value);
  }

  do(name, argument) {
    this.#child.stdin.write(`${JSON.stringify([name, argument])}\n`);
    return this.answer();
  }

  async emit(count) {
    await this.do('emit', count);
    this.acknowledged += count;
  }

  async endWorker(count) {
    await this.do('endWorker', count);
    this.acknowledged += count;
  }

  /** Ends the process in an orderly way; what it says that it has lost. */
  async end() {
    this.#child.stdin.end();
    const [code, signal] = await this.#ended;
    if (code !== 0) throw new Error(`the process ended with ${signal ?? code}: ${this.#stderr}`);
    return lossIn(this.#stderr);
  }

  async kill(signal = 'SIGKILL') {
    this.#child.kill(signal);
    await this.#ended;
    return lossIn(this.#stderr);
  }
}
