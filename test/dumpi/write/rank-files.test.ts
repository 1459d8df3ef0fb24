import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readSections } from '../../../src/dumpi/read/section-reader.js';
import { openRank } from '../../../src/dumpi/write/rank.js';
import { caught, open, runDirectory } from './opened-rank.js';

describe('the files of a run', () => {
  it('have names of one start, and a metafile', () => {
    const directory = runDirectory();
    const startTime = new Date(2026, 0, 2, 3, 4, 5, 678);
    const ranks = [0, 1].map((rank) =>
      openRank({
        directory,
        fileRoot: 'sub/root',
        rank,
        size: 2,
        hostname: 'host',
        username: 'me',
        startTime,
        mesh: { coordinates: [1, 2], sizes: [3, 4] },
        config: {},
      }),
    );
    for (const rank of ranks) rank.close();
    expect(readdirSync(join(directory, 'sub')).sort()).toEqual([
      'root-2026.01.02.03.04.05-0000.bin',
      'root-2026.01.02.03.04.05-0001.bin',
      'root-2026.01.02.03.04.05.meta',
    ]);
    const seconds = Math.floor(startTime.getTime() / 1000);
    expect(readFileSync(join(directory, 'sub/root-2026.01.02.03.04.05.meta'), 'utf8')).toBe(
      `hostname=host\nnumprocs=2\nusername=me\nstartime=${seconds}\nfileprefix=root-2026.01.02.03.04.05\nversion=13\nsubversion=0\nsubsubversion=0\n`,
    );
    expect(readSections(ranks[1]!.path).header).toEqual({
      version: [13, 0, 0],
      startTime: BigInt(seconds),
      hostname: 'host',
      username: 'me',
      meshCoordinates: [1, 2],
      meshSizes: [3, 4],
    });
    expect(
      caught(() => openRank({ directory, fileRoot: 'sub/root', rank: 1, size: 2, startTime })),
    ).toMatchObject({
      code: 'ERR_TRACE_EXISTS',
    });
  });

  it('say 0 for each dimension of a network whose size is not known', () => {
    const rank = open({ mesh: { coordinates: [3, 1, 4] } });
    rank.close();
    expect(readSections(rank.path).header).toMatchObject({
      meshCoordinates: [3, 1, 4],
      meshSizes: [0, 0, 0],
    });
  });

  it.each([
    [{ rank: 2 }, 'rank'],
    [{ rank: -1 }, 'rank'],
    [{ size: 0 }, 'size'],
    [{ startTime: new Date(NaN) }, 'startTime'],
    [{ hostname: 'h'.repeat(65_536) }, 'hostname'],
    [{ threads: 1 }, 'threads'],
    [{ mesh: { coordinates: [1], sizes: [] } }, 'mesh.sizes'],
    [{ mesh: { coordinates: [1], size: [1] } }, 'mesh option'],
    [{ config: { timestamp: 'wall' } }, 'config option'],
    [{ dir: '/tmp' }, 'option'],
    [{ config: { timestamps: 'both' } }, 'config.timestamps'],
    [{ config: '/nowhere/dumpi.conf' }, 'config'],
    [{ directory: 7 }, 'directory'],
  ])('refuse %j', (options, field) => {
    expect(caught(() => open(options as never))).toMatchObject({ field });
  });
});
