import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, it } from 'vitest';
import { TracedProcess, temporaryDirectory } from '../../node/traced-process.js';
import { tracewright } from '../run-command.js';

const directory = temporaryDirectory();
/** A service that asks itself once, then starts the program that its argument names. */
const PROGRAM = `
  import { fork } from 'node:child_process';
  import { once } from 'node:events';
  import { createServer } from 'node:http';
  const server = createServer((request, response) => response.end()).listen(0);
  await once(server, 'listening');
  await (await fetch('http://127.0.0.1:' + server.address().port)).text();
  server.close();
  if (process.argv[2]) await once(fork(new URL(process.argv[2], import.meta.url)), 'exit');
`;
writeFileSync(join(directory, 'package.json'), '{ "name": "bookshop" }');
for (const name of ['shop.mjs', 'stock.mjs', 'mail.mjs'])
  writeFileSync(join(directory, name), PROGRAM);

/** Runs a program of the package, to its end. */
async function start(name: string, traces: string, env = {}, args: string[] = []): Promise<void> {
  const script = pathToFileURL(join(directory, name)).href;
  const run = new TracedProcess(script, {
    env: { TRACEWRIGHT_CONTEXT: 'on', TRACEWRIGHT_DIR: traces, ...env },
    args,
  });
  const { code, stderr } = await run.ended();
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
}

/** What the report on paths warns of. */
function warnings(...paths: string[]): string[] {
  const { status, stderr } = tracewright('report', '--cache', 'off', ...paths);
  expect(status).toBe(0);
  return stderr.split('\n').filter((line) => line !== '');
}

it('names the further runs of a directory that several processes were given', async () => {
  const traces = join(directory, 'one');
  await start('shop.mjs', traces);
  expect(warnings(traces)).toEqual([]);
  await start('shop.mjs', traces);
  const read = `tracewright report: ${traces} is one run. Other processes wrote to ${traces}.1`;
  expect(warnings(traces)).toEqual([
    `${read}, which is not read. To read all: tracewright report ${traces} ${traces}.1`,
  ]);
  await start('shop.mjs', traces);
  // Neither is of the hook.
  mkdirSync(`${traces}.9`);
  mkdirSync(join(`${traces}.old`, 'heph'), { recursive: true });
  expect(warnings(traces)).toEqual([
    `${read} to ${traces}.2, which is not read. To read all: tracewright report ${traces} ${traces}.[0-9]*`,
  ]);
  const all = [traces, `${traces}.1`, join(directory, 'one.2')];
  expect(warnings(...all)).toEqual([]);
  const { stdout } = tracewright('report', '--cache', 'off', ...all);
  expect(stdout.replaceAll(/\n */g, ' ')).toContain(
    'bookshop has 3 runs in these directories. The figures are of all of them together. ' +
      `To see the last one alone: tracewright report ${traces}.2 ` +
      `(to compare it with the one before, add --against ${traces}.1)`,
  );
  expect(tracewright('report', '--cache', 'off', traces).stdout).not.toContain(' runs in these');
});

it('names programs that have the same service name', async () => {
  const traces = join(directory, 'two');
  const shop = join(traces, 'shop');
  const stock = join(traces, 'stock');
  await start('shop.mjs', shop, {}, ['mail.mjs']);
  await start('shop.mjs', shop);
  // What a program starts is a part of its service.
  expect(warnings(shop, `${shop}.1`)).toEqual([]);
  await start('stock.mjs', stock);
  expect(warnings(traces)).toEqual([
    'tracewright report: mail, shop and stock have the same service name, bookshop. ' +
      'To tell them apart, start each with its own OTEL_SERVICE_NAME',
  ]);
  await start('stock.mjs', join(traces, 'named'), { OTEL_SERVICE_NAME: 'stock' });
  expect(warnings(shop, `${shop}.1`, join(traces, 'named'))).toEqual([]);
});

it('reports on the newest run of a directory, and names the others', async () => {
  const traces = join(directory, 'again');
  for (const run of ['a', 'b', 'c']) await start('shop.mjs', join(traces, run));
  const [a, b, c] = ['a', 'b', 'c'].map((run) => join(traces, run));
  expect(warnings(traces)).toEqual([
    `tracewright report: this is the newest run of bookshop, ${c}. Left out: ${a}, ${b}. ` +
      `--all-runs reads all together, ${c} --against ${b} compares`,
  ]);
  const requests = (...args: string[]): number[] => {
    const { stdout } = tracewright('report', '--cache', 'off', '--json', ...args);
    return (JSON.parse(stdout) as { groups: { count: number }[] }).groups.map(({ count }) => count);
  };
  expect(requests(traces)).toEqual([1]);
  expect(requests(traces, '--all-runs')).toEqual([3]);
  expect(requests(a!, c!)).toEqual([2]);
  expect(warnings(traces, '--all-runs')).toEqual([]);
  // Those that run at the same time are one recording.
  const together = join(directory, 'together');
  await Promise.all(['a', 'b'].map((run) => start('shop.mjs', join(together, run))));
  expect(warnings(together)).toEqual([]);
  expect(requests(together)).toEqual([2]);
});
