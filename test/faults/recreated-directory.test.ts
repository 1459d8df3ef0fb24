import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterAll, expect, it } from 'vitest';
import { openRank } from '../../src/dumpi/write/rank.js';
import { readCalls } from '../../src/dumpi/read/reader.js';
import { recoverTrace as recoverDumpi } from '../../src/dumpi/read/recover.js';
import { recoverTrace as recoverLaplace } from '../../src/laplace/read/recover.js';
import { readReferences } from '../../src/laplace/read/reference-reader.js';
import { recoverTrace as recoverOvni } from '../../src/ovni/read/recover.js';
import { ovniNumbers } from './numbered-traces.js';

const script = fileURLToPath(new URL('./fixtures/own-file-traces.mjs', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'tracewright-recreated-'));
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

/** The process of test/faults/fixtures/own-file-traces.mjs. */
class TracingProcess {
  readonly ended: Promise<unknown>;
  readonly #child;
  readonly #lines;

  constructor(directory: string) {
    this.#child = spawn(process.execPath, [script, directory], {
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    this.ended = once(this.#child, 'close');
    this.#lines = createInterface({ input: this.#child.stdout })[Symbol.asyncIterator]();
  }

  async answer(): Promise<unknown> {
    const { value } = (await this.#lines.next()) as { value?: string };
    return JSON.parse(value ?? 'null') as unknown;
  }

  tell(name: string, argument?: unknown): void {
    this.#child.stdin.write(`${JSON.stringify([name, argument])}\n`);
  }

  async do(name: string, argument?: unknown): Promise<unknown> {
    this.tell(name, argument);
    return this.answer();
  }

  async end(): Promise<void> {
    this.#child.stdin.end();
    await this.ended;
  }
}

it.each([0, 100])(
  'a trace of whose %i events the directory was removed leaves alone what lies there by now',
  async (events) => {
    const directory = join(folder, String(events));
    mkdirSync(directory);
    const first = new TracingProcess(directory);
    await first.answer();
    await first.do('emit', events);
    await first.do('flush');
    rmSync(directory, { recursive: true });
    mkdirSync(directory);
    const second = new TracingProcess(directory);
    await second.answer();
    const before = readdirSync(directory, { recursive: true, encoding: 'utf8' }).sort();
    const errors = await first.do('close');
    expect(errors).toMatchObject({ rank: { code: 'ERR_SYSTEM' } });
    expect(JSON.stringify(errors)).toContain('ENOENT');
    await first.end();
    expect(readdirSync(directory, { recursive: true, encoding: 'utf8' }).sort()).toEqual(before);

    await second.do('emit', 500);
    second.tell('kill');
    await second.ended;
    const numbers = Array.from({ length: 500 }, (_, n) => n);
    const rank = join(
      directory,
      readdirSync(directory).find((name) => name.endsWith('.bin'))!,
    );
    recoverDumpi(rank);
    expect(
      [...readCalls(rank)].map(({ fields }) => (fields as unknown as { count: number }).count),
    ).toEqual(numbers);
    const references = join(directory, 'references');
    recoverLaplace(references, { kind: 'binary' });
    expect(
      [...readReferences(references, { form: 'binary' })].map(({ address }) => address),
    ).toEqual(numbers);
    recoverOvni(join(directory, 'ovni'));
    expect(ovniNumbers(join(directory, 'ovni'))).toEqual(numbers);
    const left = readdirSync(directory, { recursive: true, encoding: 'utf8' });
    expect(left.filter((name) => name.endsWith('.ring'))).toEqual([]);
  },
);

it('a rank whose directory was removed adds nothing to the files of another that lies there by now', () => {
  const directory = join(folder, 'rank');
  const options = { rank: 0, size: 1, directory, fileRoot: 'run', startTime: new Date(1e12) };
  const content = () =>
    readdirSync(directory)
      .filter((name) => !name.endsWith('.ring'))
      .map((name) => [name, readFileSync(join(directory, name), 'latin1')]);
  mkdirSync(directory);
  const first = openRank(options);
  rmSync(directory, { recursive: true });
  mkdirSync(directory);
  const second = openRank(options);
  expect(second.path).toBe(first.path);
  second.keyval('whose', 'second');
  const before = content();
  expect(() => {
    first.keyval('whose', 'first');
  }).toThrow(expect.objectContaining({ code: 'ERR_SYSTEM', field: 'path', value: first.path }));
  first.functionEnter('a function');
  first.annotate('an annotation');
  expect(first.dropped).toBeGreaterThan(0);
  expect(content()).toEqual(before);
  second.functionEnter('a function');
  second.close();
  expect(() => {
    first.close();
  }).toThrow('ENOENT');
  expect(recoverDumpi(second.path).faults).toEqual([]);
  expect([...readCalls(second.path)]).toHaveLength(1);
});
