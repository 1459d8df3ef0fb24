import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { temporaryDirectory } from '../../../heph/temporary-file.js';
import { installedPackages } from '../../../libraries/packages.js';
import { describeWith } from '../../../libraries/servers.js';
import { reportOn } from '../recorded-service.js';
import type { Finding } from '../../../../src/look/report/shape/finding-shape.js';

/** Half a minute is the least, and the programs take some time to start. */
const SECONDS = 33;
const ROOT = join(import.meta.dirname, '../../../..');

/** What a program wants to be asked: so many requests a second of each path. */
interface Ready {
  port: number;
  /** With a method, or of GET. */
  paths: string[];
  rate: number;
  /** So many wait for answers at most. */
  users: number | null;
}

/** Asks as often as the program wants, whether it answers or not: until the time is over, or the program. */
async function ask(child: ChildProcess, { port, paths, rate, users }: Ready): Promise<void> {
  const begin = performance.now();
  const asked: Promise<unknown>[] = [];
  let waiting = 0;
  const isOver = (): boolean => child.exitCode !== null || child.signalCode !== null;
  for (let number = 0; performance.now() - begin < SECONDS * 1000 && !isOver(); number++) {
    for (const path of paths) {
      const [url, method = 'GET'] = path.split(' ').toReversed();
      if (waiting >= (users ?? Infinity)) continue;
      waiting += 1;
      const answer = fetch(`http://127.0.0.1:${port}${url}`, { method });
      const over = answer.then((each) => each.text()).catch(() => undefined);
      asked.push(over.finally(() => (waiting -= 1)));
    }
    await sleep(begin + ((number + 1) * 1000) / rate - performance.now());
  }
  await Promise.all(asked);
}

/** What the report finds of a program that was under load. */
async function findingsOf(program: string, flags: readonly string[]): Promise<Finding[]> {
  const directory = join(temporaryDirectory(), 'run');
  const child = spawn(
    process.execPath,
    [
      ...['--require', join(ROOT, 'dist/node/register.js'), ...flags],
      join(import.meta.dirname, 'sick-programs', `${program}.mjs`),
    ],
    {
      cwd: await installedPackages('newest'),
      // Other tests record no stalls.
      env: {
        ...process.env,
        TRACEWRIGHT_DIR: directory,
        OTEL_SERVICE_NAME: 'shop',
        TRACEWRIGHT_STALL_MS: '50',
      },
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    },
  );
  const ended = once(child, 'exit');
  const [ready] = (await once(child, 'message')) as [Ready];
  await ask(child, ready);
  if (child.connected) child.disconnect();
  await ended;
  const { report } = await reportOn([directory]);
  return report.findings;
}

const FLAGS: Readonly<Record<string, readonly string[]>> = {
  'out-of-heap': ['--max-old-space-size=120'],
  // Every collection is a full one: else half a minute has too few.
  leak: ['--gc-global'],
  'much-garbage': ['--gc-global'],
};

/** Each program, and how its findings begin. */
const SICK: readonly (readonly [program: string, findings: readonly RegExp[]])[] = [
  ['too-busy', [/^loop used up: the event loop of thread main of shop/]],
  ['uncaught', [/^died: shop .* ended by an uncaught TypeError at .*uncaught\.mjs:6/]],
  ['killed', [/^died: shop .*was killed/]],
  [
    'missing-field',
    [/^failures: GET \/customers\/:id of shop .*TypeError at cityOf .*missing-field\.mjs:10/],
  ],
  ['out-of-heap', [/^died: shop .*out of heap/]],
  ['unique-key', [/^failures: POST \/carts of shop fails, \d\d\.?\d* % .*23505/]],
  ['small-pool', [/^pool is the queue: postgresql pool of shop .*GET \/(report|user)/]],
  ['lent-clients', [/^pool is the queue: generic pool of shop .*GET \/stock/]],
  ['busy-timer', [/^outside requests: /]],
  ['slow-partner', [/^dominated tail: GET \/quote of shop .* wait for 127\.0\.0\.1:/]],
  ['hung-partner', [/^constant timeout: GET .*of shop fails after 1(\.0\d)? s/]],
  ['keys-in-loop', [/^repeated calls: GET \/friends of shop calls GET \(redis\) 50 times/]],
  ['bad-pattern', [/^blocking line: shop .* by trimmed .*bad-pattern\.mjs:7/]],
  ['queries-in-loop', [/^repeated calls: GET \/orders\/:id of shop calls SELECT 21 times/]],
  ['retried-mails', [/^retries: process mails.* of shop repeats POST/]],
  [
    'pool-and-partner',
    [/^pool is the queue: postgresql pool of shop .*GET \/export/, /GET \/rate/],
  ],
  ['leak', [/^memory grows: the heap of thread main of shop/]],
  ['password-hash', [/^blocking line: shop .* native code below hash .*password-hash\.mjs/]],
  ['much-garbage', [/^collections: thread main of shop/]],
  [
    'constraint-and-loop',
    [
      /^failures: POST \/order of shop .*23514/,
      /^repeated calls: GET \/list of shop calls SELECT 12 times/,
    ],
  ],
];

await describeWith(['PostgreSQL', 'Redis'], 'twenty sick programs', () => {
  const title = '%s: the right finding is the first';
  const check = async (program: string, expected: readonly RegExp[]): Promise<void> => {
    const findings = await findingsOf(program, FLAGS[program] ?? []);
    const texts = findings.map(({ rule, text }) => `${rule}: ${text}`);

    expect(texts.slice(0, expected.length)).toEqual(
      expected.map((each) => expect.stringMatching(each) as string),
    );
  };
  const [busy, ...others] = SICK;
  // Whose loop is used up needs a CPU of its own.
  it.each([busy!])(title, check);
  it.concurrent.each(others)(title, check);
});
