import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  chownSync,
  copyFileSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { basename, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { main } from '../cli/run-command.js';
import { temporaryDirectory } from '../heph/temporary-file.js';
import { Receiver } from './receiver.js';
import { endAll, idsAt, killedTrace, recording, ShipProcess } from './shipped.js';

const directory = temporaryDirectory();
/** Users without a name. */
const [FIRST, SECOND, THIRD] = [23_451, 23_452, 23_453] as const;
let runs = 0;
let run: string;
let traces: string;
let receiver: Receiver;

beforeEach(async () => {
  run = join(directory, String(++runs));
  traces = join(run, 'traces');
  mkdirSync(traces, { recursive: true });
  receiver = await new Receiver().listen();
});
afterEach(async () => {
  endAll();
  await receiver.close();
});

const ship = (...args: string[]): ShipProcess =>
  new ShipProcess([traces, '--to', receiver.url, '--checkpoint', join(run, 'checkpoint'), ...args]);

/** Gives a directory and what it has to a user. */
function give(path: string, user: number): void {
  for (const name of readdirSync(path)) chownSync(join(path, name), user, user);
  chownSync(path, user, user);
}

describe.skipIf(process.getuid?.() !== 0)('ship, with traces of three users', () => {
  const ofUser = new Map<number, string>();
  beforeEach(() => {
    for (const user of [FIRST, SECOND, THIRD]) {
      const own = join(traces, String(user));
      mkdirSync(own);
      killedTrace(join(own, 'own.heph'), 5);
      ofUser.set(user, own);
    }
  });

  it('reads those of the users that are named, whatever others put there', async () => {
    const [first, second, third] = [...ofUser.values()] as [string, string, string];
    const expected = await idsAt(join(first, 'own.heph'));
    // A user names the file of another one, by a link and by a further name.
    symlinkSync(join(third, 'own.heph'), join(first, 'link.heph'));
    linkSync(join(third, 'own.heph'), join(first, 'further.heph'));
    // And makes a ring for a file of another one.
    const [ring] = readdirSync(second).filter((name) => name.endsWith('.ring'));
    copyFileSync(join(second, ring!), join(first, ring!));
    for (const [user, own] of ofUser) give(own, user);
    chownSync(join(third, 'own.heph'), THIRD, THIRD);
    chownSync(join(first, ring!), SECOND, SECOND);
    const process = ship('--once', '--owner', String(FIRST));
    await process.end();
    expect(receiver.ids).toEqual(expected);
    for (const user of [SECOND, THIRD]) {
      expect(process.output).toContain(`belongs to user ${user}`);
    }
    expect(statSync(join(run, 'checkpoint')).mode & 0o777).toBe(0o600);
  });

  it('takes nothing as a user who may not read it, and says so', async () => {
    for (const [user, own] of ofUser) give(own, user);
    for (const path of [directory, run, traces]) chmodSync(path, 0o755);
    const state = join(run, 'state');
    mkdirSync(state);
    chownSync(state, SECOND, SECOND);
    const args = [main, 'ship', traces, '--to', receiver.url, '--once', '--owner', 'any'];
    const child = spawn(process.execPath, [...args, '--checkpoint', join(state, 'checkpoint')], {
      uid: SECOND,
      gid: SECOND,
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    let output = '';
    child.stderr.setEncoding('utf8').on('data', (text: string) => (output += text));
    await once(child, 'close');
    expect(receiver.ids).toEqual(await idsAt(join(ofUser.get(SECOND)!, 'own.heph')));
    expect(child.exitCode).toBe(1);
    for (const user of [FIRST, THIRD]) expect(output).toContain(`${user}/own.heph`);
  });
});

/** A generator of numbers that is the same in each run. */
function* numbers(seed: number): Generator<number, never> {
  for (let state = seed; ;) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    yield state;
  }
}

describe('ship, with poisoned files among many', () => {
  it('names each of them in a few lines, and sends the others at once', async () => {
    const [good, bad] = [join(run, 'good.heph'), join(run, 'bad.heph')];
    killedTrace(bad, 200);
    const whole = readFileSync(bad);
    const next = numbers(35);
    for (let n = 0; n < 60; n++) {
      const bytes = Buffer.from(whole);
      const changes = 1 + (next.next().value % 20);
      for (let i = 0; i < changes; i++) {
        bytes[next.next().value % bytes.length] = next.next().value >>> 24;
      }
      // Its first packet is none.
      bytes.fill(0xff, 0, 8);
      writeFileSync(join(traces, `${n}-bad.heph`), bytes);
    }
    writeFileSync(join(traces, 'text.heph'), 'no trace '.repeat(100_000));
    const expected = new Set<string>();
    for (let n = 0; n < 5; n++) {
      const target = join(traces, `${n}-good.heph`);
      killedTrace(target, 5);
      for (const id of await idsAt(target)) expected.add(id);
    }
    const target = join(traces, basename(good));
    await recording({ target, most: 500 });
    const from = performance.now();
    const process = ship();
    await vi.waitFor(
      () => {
        const ids = new Set(receiver.ids);
        expect([...expected].filter((id) => !ids.has(id))).toEqual([]);
        expect(receiver.spans.filter(({ name }) => name === 'numbered').length).toBe(500);
      },
      { timeout: 30_000, interval: 20 },
    );
    expect(performance.now() - from).toBeLessThan(15_000);
    expect(await process.end('SIGTERM')).toBe(1);
    for (let n = 0; n < 60; n++) {
      const said = process.output.split('\n').filter((line) => line.includes(`/${n}-bad.heph`));
      expect(said.length, `${n}-bad.heph`).toBeGreaterThan(0);
      // However often it is read, and the number of those that were not said.
      expect(said.length, `${n}-bad.heph`).toBeLessThanOrEqual(6);
    }
  });
});

describe('secrets of ship', () => {
  it('are in no command line, message, checkpoint, metric or refused span, and follow no redirect', async () => {
    const secret = 'Bearer s3cr3t-0f-the-t3am';
    const word = secret.slice(7);
    const headers = join(run, 'headers');
    writeFileSync(headers, `authorization: ${secret}\nx-key: ${word}\n`);
    killedTrace(join(traces, 'a.heph'), 3);
    const other = await new Receiver().listen();
    const password = 'p4ssw0rd-in-the-url';
    const url = new URL(receiver.url);
    url.username = 'team';
    url.password = password;
    const seen: string[] = [];
    let answers = 0;
    receiver.answer = ({ headers: sent }) => {
      answers++;
      // A target that repeats what it was sent.
      const echo = `${JSON.stringify(sent)} ${password}`;
      if (answers === 1) return { status: 307, headers: { location: `${other.url}/v1/traces` } };
      return { status: answers === 2 ? 401 : 400, body: echo };
    };
    try {
      const args = [traces, '--checkpoint', join(run, 'checkpoint'), '--headers', headers];
      const refused = join(run, 'refused');
      const process = new ShipProcess(
        [...args, '--refused', refused, '--metrics', '127.0.0.1:0', '--span-metrics'],
        { TRACEWRIGHT_SHIP: url.href },
      );
      for (const wanted of [1, 2, 3]) {
        await vi.waitFor(() => {
          expect(answers).toBeGreaterThanOrEqual(wanted);
          expect(process.output).toContain('metrics at');
        }, 30_000);
        seen.push(readFileSync(`/proc/${process.child.pid}/cmdline`, 'utf8'));
        process.child.kill('SIGHUP');
      }
      await vi.waitFor(() => {
        expect(process.output).toContain('refuses');
      }, 30_000);
      const [at] = /http:\/\/127\.0\.0\.1:\d+\S*/.exec(process.output.split('metrics at')[1]!)!;
      seen.push(await (await fetch(at)).text());
      await process.end('SIGTERM');
      seen.push(process.output, readFileSync(join(run, 'checkpoint'), 'utf8'));
      for (const name of readdirSync(refused)) {
        seen.push(readFileSync(join(refused, name), 'utf8'));
      }
      expect(receiver.requests[0]!.headers.authorization).toBe(secret);
      expect(other.requests).toHaveLength(0);
      const all = seen.join('\n');
      expect(all).toContain('spanId');
      for (const each of [word, password]) expect(all).not.toContain(each);
    } finally {
      await other.close();
    }
  });
});
