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
import { basename, join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { INDEX_FILE } from '../../../../src/look/index/cache/cache-directory.js';
import { openLookIndex } from '../../../../src/look/index/open-look-index.js';
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

/** Asks in another run; undefined: there is no answer. */
async function read(paths: string[], question = 'q', code = 'c'): Promise<unknown> {
  const index = await openLookIndex(paths, { cache, leastCachedBytes: 0 });
  try {
    return index.answers!.read(question, code);
  } finally {
    index.close();
  }
}

async function keep(paths: string[], answer: unknown = ANSWER): Promise<void> {
  const index = await openLookIndex(paths, { cache, leastCachedBytes: 0 });
  index.answers!.keep('q', 'c', answer);
  index.close();
}

describe('an answer', () => {
  it('is what was kept, of the same question, code and files', async () => {
    const first = await trace(20);
    const second = join(own, 'second.heph');
    copyFileSync(first, second);
    await keep([first]);
    expect(await read([first])).toEqual(ANSWER);
    expect(await read([first], 'another')).toBeUndefined();
    expect(await read([first], 'q', 'later')).toBeUndefined();
    expect(await read([second])).toBeUndefined();
    expect(await read([first, second])).toBeUndefined();
    await keep([first, second], { both: true });
    expect(await read([first, second])).toEqual({ both: true });
    expect(await read([first])).toEqual(ANSWER);
    await keep([first], { again: true });
    expect(await read([first])).toEqual({ again: true });
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
      const index = await openLookIndex([path], options);
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
