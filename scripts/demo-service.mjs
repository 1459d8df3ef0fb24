// The example service as a process of its own, traced or not, and how much CPU time it has used.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const script = fileURLToPath(new URL('../examples/http-service.mjs', import.meta.url));
const register = new URL('../dist/node/register.js', import.meta.url).href;
/** Linux counts CPU time in ticks of this length, whatever its own clock does. */
const TICK_MS = 10;

/** The example service under load. */
export class DemoService {
  answered = 0;
  /** Requests a second, slice by slice. */
  rates = [];
  cpuMs = 0;
  measured = 0;

  /** @param {string | undefined} directory Where its traces go; undefined: it is not traced. */
  constructor(directory) {
    const traced = directory !== undefined;
    const env = { ...process.env, PORT: '0' };
    for (const name of Object.keys(env)) if (name.startsWith('TRACEWRIGHT_')) delete env[name];
    if (traced) {
      Object.assign(env, { TRACEWRIGHT_DIR: directory, TRACEWRIGHT_QUIET: '1' });
      // The demo shows both formats that the hook writes.
      env.TRACEWRIGHT_FORMATS = 'heph,ovni';
    }
    this.child = spawn(process.execPath, [...(traced ? ['--import', register] : []), script], {
      env,
      stdio: ['ignore', 'pipe', 'inherit'],
    });
  }

  /** Resolves once it listens. */
  async listening() {
    const lines = createInterface(this.child.stdout);
    const [line] = await Promise.race([
      once(lines, 'line'),
      once(this.child, 'exit').then(([code]) => {
        throw new Error(`the service ended with ${code} before it listened`);
      }),
    ]);
    this.origin = /http:\S+/.exec(line)[0];
  }

  /** Milliseconds of CPU time so far, of all its threads; undefined where the system does not say. */
  cpuTime() {
    try {
      const stat = readFileSync(`/proc/${this.child.pid}/stat`, 'latin1');
      const [user, system] = stat
        .slice(stat.lastIndexOf(')') + 2)
        .split(' ')
        .slice(11, 13);
      return TICK_MS * (Number(user) + Number(system));
    } catch {
      return undefined;
    }
  }

  /** Ends it by SIGTERM; resolves to whether the signal is what ended it. */
  async stop() {
    const ended = once(this.child, 'exit');
    this.child.kill('SIGTERM');
    const [, signal] = await ended;
    return signal === 'SIGTERM';
  }
}
