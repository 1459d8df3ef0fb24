import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { FollowedFiles } from '../../src/ship/followed-files.js';
import { temporaryDirectory } from '../heph/temporary-file.js';

const directory = temporaryDirectory();
afterEach(() => vi.restoreAllMocks());

describe('the directories that ship follows', () => {
  it('are watched again if another one gets their name, long before the next search', async () => {
    // Directories are searched by this clock, and notifications come when they come.
    let now = 0;
    vi.spyOn(performance, 'now').mockImplementation(() => now);
    const below = join(directory, 'below');
    mkdirSync(below);
    const files = new FollowedFiles([directory], new Map(), {
      ringDirs: [],
      owners: undefined,
      newestFirst: false,
      onFault: (fault) => {
        throw fault;
      },
      onNote: () => undefined,
    });
    const untilFound = (path: string): Promise<void> =>
      vi.waitFor(
        () => {
          files.due();
          const names = [...files.all].map((file) => basename(file.path));
          expect(names).toContain(basename(path));
        },
        { timeout: 60_000, interval: 10 },
      );
    const write = (path: string): string => {
      writeFileSync(path, '');
      return path;
    };
    try {
      files.due();
      rmSync(below, { recursive: true });
      mkdirSync(below);
      // What is found now was searched for after the other directory was there.
      for (const name of ['1.heph', '2.heph']) {
        now += 300;
        await untilFound(write(join(directory, name)));
      }
      now += 300;
      await untilFound(write(join(below, '3.heph')));
    } finally {
      files.close();
    }
  });
});
