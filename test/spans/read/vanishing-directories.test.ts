import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { FollowedFiles } from '../../../src/ship/followed-files.js';
import { readSpans } from '../../../src/spans/index.js';
import { configure, shutdown } from '../../../src/spans/recording.js';
import { startSpan } from '../../../src/spans/start-span.js';
import { filesAt } from '../../../src/spans/read/span-files.js';
import { temporaryDirectory } from '../../heph/temporary-file.js';

const above = temporaryDirectory();

async function writeSpan(path: string): Promise<void> {
  configure({ target: path });
  startSpan('work').end();
  await shutdown();
}

/** A directory with a trace, and two below it with another one each. */
async function recorded(): Promise<string> {
  const directory = mkdtempSync(join(above, 'traces-'));
  await writeSpan(join(directory, 'a.heph'));
  for (const below of ['b', 'c']) {
    mkdirSync(join(directory, below));
    await writeSpan(join(directory, below, 'd.heph'));
  }
  return directory;
}

/** Makes names that are not UTF-8: of a file, and of a directory with a file. */
function addUnreadable(directory: string): void {
  const name = (rest: string): Buffer =>
    Buffer.concat([Buffer.from(`${directory}/`), Buffer.from(rest, 'latin1')]);
  mkdirSync(name('bb\xff'));
  writeFileSync(name('bb\xff/two.heph'), '');
  writeFileSync(name('\xff.heph'), '');
}

const UNREADABLE = [
  expect.stringMatching(/bb\ufffd: its name is not UTF-8/),
  expect.stringMatching(/\ufffd\.heph: its name is not UTF-8/),
];

describe('a directory that vanishes while it is read', () => {
  it('is skipped by readSpans, also without onFault', async () => {
    const directory = await recorded();
    const names: string[] = [];
    for await (const { name } of readSpans(directory)) {
      names.push(name);
      // It has been listed.
      rmSync(join(directory, 'b'), { recursive: true, force: true });
    }
    expect(names).toEqual(['work', 'work']);
  });

  it('is skipped where files are looked for, but not the one that was asked for', async () => {
    const directory = await recorded();
    const remove = (at: string) => (path: string) => {
      if (path.endsWith(at)) rmSync(path, { recursive: true });
    };
    const found = [...filesAt(directory, undefined, remove('/b'))];
    expect(found).toEqual([join(directory, 'a.heph'), join(directory, 'c', 'd.heph')]);
    expect(() => [...filesAt(directory, undefined, remove(directory))]).toThrow(/ENOENT/);
  });
});

describe('names that are not UTF-8', () => {
  it('are faults, and the rest is read', async () => {
    const directory = await recorded();
    addUnreadable(directory);
    const faults: string[] = [];
    const names: string[] = [];
    const onFault = ({ message }: Error): void => void faults.push(message);
    for await (const { name } of readSpans(directory, { onFault })) names.push(name);
    expect([names, faults]).toEqual([['work', 'work', 'work'], UNREADABLE]);
    await expect(async () => {
      for await (const { name } of readSpans(directory)) names.push(name);
    }).rejects.toThrow(/its name is not UTF-8/);
  });

  it('are reported by what ship follows, and the rest is followed', async () => {
    const directory = await recorded();
    addUnreadable(directory);
    const faults: string[] = [];
    const files = new FollowedFiles([directory], new Map(), {
      ringDirs: [],
      owners: undefined,
      newestFirst: false,
      onFault: ({ message }) => faults.push(message),
      onNote: () => undefined,
    });
    files.due();
    expect([...files.all]).toHaveLength(3);
    expect(faults).toEqual(UNREADABLE);
    files.close();
  });
});
