import {
  appendFileSync,
  copyFileSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { basename, join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { CacheDirectory, INDEX_FILE } from '../../../../src/look/index/cache/cache-directory.js';
import { KeptAnswers } from '../../../../src/look/index/cache/kept-answers.js';
import type { LookIndex } from '../../../../src/look/index/look-index.js';
import { withSpan } from '../../../../src/spans/active-span.js';
import { tracewright } from '../../../cli/run-command.js';
import { temporaryDirectory } from '../../../heph/temporary-file.js';
import { recorded } from '../../../spans/span-trace.js';

const ANSWER = { figures: [1, 2.5, null], text: 'GET /' };
const directory = temporaryDirectory();
let number = 0;
let own = '';
let cache = '';

beforeEach(() => {
  own = join(directory, String(++number));
  cache = join(own, 'cache');
  mkdirSync(own);
});

async function trace(spans: number, attributes: Record<string, string> = {}): Promise<string> {
  let path = '';
  await recorded(own, (target) => {
    path = target;
    for (let i = 0; i < spans; i++) withSpan(`GET /${i % 5}`, attributes, () => undefined);
  });
  return path;
}

/** The sources have no answers: only the built package has a version. */
const { look_index_open_look_index: built } = createRequire(import.meta.url)(
  '../../../../dist/look/index.js',
) as {
  look_index_open_look_index: typeof import('../../../../src/look/index/open-look-index.js');
};

const open = (paths: string[]): Promise<LookIndex> =>
  built.openLookIndex(paths, { cache, leastCachedBytes: 0 });

/** Asks in another run; undefined: there is no answer. */
async function read(paths: string[], question = 'q'): Promise<unknown> {
  const index = await open(paths);
  try {
    return index.answers!.read(question);
  } finally {
    index.close();
  }
}

async function keep(paths: string[], answer: unknown = ANSWER, took = 1000): Promise<void> {
  const index = await open(paths);
  index.answers!.keep('q', answer, took);
  index.close();
}

describe('an answer', () => {
  it('is what was kept, of the same question and files', async () => {
    const first = await trace(20);
    const second = join(own, 'second.heph');
    copyFileSync(first, second);
    await keep([first]);
    expect(await read([first])).toEqual(ANSWER);
    expect(await read([first], 'another')).toBeUndefined();
    expect(await read([second])).toBeUndefined();
    expect(await read([first, second])).toBeUndefined();
    await keep([first, second], { both: true });
    expect(await read([first, second])).toEqual({ both: true });
    expect(await read([first])).toEqual(ANSWER);
    await keep([first], { quick: true }, 3);
    expect(await read([first])).toEqual(ANSWER);
    await keep([first], { again: true });
    expect(await read([first])).toEqual({ again: true });
  });

  it('is of no use to other code, or where other facts are known', async () => {
    const path = await trace(20);
    const files = [{ path, end: statSync(path).size }];
    const kept = new CacheDirectory(cache);
    new KeptAnswers(kept, files, ['rows', '1.0.0']).keep('q', ANSWER, 1000);
    const readOf = (...facts: string[]): unknown => new KeptAnswers(kept, files, facts).read('q');
    expect(readOf('rows', '1.0.0')).toEqual(ANSWER);
    expect(readOf('rows', '1.0.1')).toBeUndefined();
    expect(readOf('more rows', '1.0.0')).toBeUndefined();
  });

  it('is of no use when a file has changed', async () => {
    const path = await trace(20);
    const bytes = readFileSync(path);
    await keep([path]);
    appendFileSync(path, bytes);
    expect(await read([path])).toBeUndefined();
    await keep([path]);
    expect(await read([path])).toEqual(ANSWER);
    writeFileSync(path, bytes);
    expect(await read([path])).toBeUndefined();
  });

  it('that is damaged, or of a trace that is gone, is none', async () => {
    const path = await trace(20);
    await keep([path]);
    const isAnswer = (file: string): boolean => readFileSync(file).includes('figures');
    const files = (): string[] =>
      readdirSync(cache, { recursive: true, encoding: 'utf8' })
        .map((name) => join(cache, name))
        .filter((file) => basename(file) === INDEX_FILE && isAnswer(file));
    const [file] = files();
    const bytes = readFileSync(file!);
    expect(statSync(file!).mode & 0o777).toBe(0o600);
    for (const change of [
      [bytes.length >> 1, 1],
      [9, 1],
    ] as const) {
      const changed = Buffer.from(bytes);
      changed[change[0]]! ^= change[1];
      writeFileSync(file!, changed);
      expect(await read([path])).toBeUndefined();
    }
    writeFileSync(file!, bytes.subarray(0, bytes.length - 40));
    expect(await read([path])).toBeUndefined();
    await keep([path]);
    expect(files()).toHaveLength(1);
    const other = await trace(3);
    rmSync(path);
    await read([other]);
    expect(files()).toHaveLength(0);
  });

  it('is not kept of a small recording, or where nothing is kept', async () => {
    const path = await trace(20);
    for (const options of [{ cache }, { cache: false, leastCachedBytes: 0 }] as const) {
      const index = await built.openLookIndex([path], options);
      expect(index.answers).toBeUndefined();
      index.close();
    }
  });
});

describe('the report of a large recording', () => {
  it('is the same when it is read again, and after a question of another kind', async () => {
    const path = await trace(40_000, { 'url.path': '/'.padEnd(60, 'x') });
    const report = (...args: string[]): string => {
      const { stdout, status, stderr } = tracewright('report', path, '--cache', cache, ...args);
      expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
      return stdout;
    };
    const entries = (): number => readdirSync(cache).length;
    const first = report('--json');
    const count = entries();
    expect(count).toBe(2);
    expect(report('--json')).toBe(first);
    const one = JSON.parse(report('--json', '--where', 'name=GET /1')) as { groups: unknown[] };
    expect(one.groups).toHaveLength(1);
    report('--json', '--slowest', '2');
    expect(report('--json')).toBe(first);
    expect(entries()).toBe(count);
    expect(report()).toContain('40,000 spans');
  });
});
