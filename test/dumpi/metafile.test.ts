import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { TraceFormatError } from '../../src/core/errors.js';
import { metafileText, readMetafile } from '../../src/dumpi/metafile.js';
import { readSections } from '../../src/dumpi/read/section-reader.js';
import { openRank } from '../../src/dumpi/write/rank.js';
import { temporaryDirectory } from '../heph/temporary-file.js';
import { caught } from './write/opened-rank.js';

const directory = temporaryDirectory();

describe('metafiles', () => {
  it('refuses what names no ranks or files', () => {
    const meta = join(directory, 'hostile.meta');
    for (const text of [
      '',
      'numprocs=2\n',
      'fileprefix=a\n',
      'numprocs=-1\nfileprefix=a\n',
      'numprocs=1e99\nfileprefix=a',
    ]) {
      writeFileSync(meta, text);
      expect(() => readMetafile(meta)).toThrow(TraceFormatError);
    }
    writeFileSync(meta, Buffer.alloc(2 << 20, 'a'));
    expect(() => readMetafile(meta)).toThrow(TraceFormatError);
    expect(readFileSync(meta)).toHaveLength(2 << 20);
  });

  it('hold no more lines than they have fields', () => {
    const metafile = {
      hostname: 'host',
      numprocs: 1,
      username: 'me',
      startTime: 1,
      fileprefix: 'run',
      version: [13, 0, 0] as [number, number, number],
    };
    for (const field of ['hostname', 'username', 'fileprefix'] as const) {
      for (const end of ['\n', '\r', '\r\n']) {
        const given = { ...metafile, [field]: `a${end}numprocs=7` };
        expect(caught(() => metafileText(given))).toMatchObject({ field });
        if (field === 'fileprefix') continue;
        const options = { rank: 0, size: 1, directory, [field]: given[field] };
        expect(caught(() => openRank(options))).toMatchObject({ field });
      }
    }
    expect(
      caught(() => openRank({ rank: 0, size: 1, directory, fileRoot: 'a\nnumprocs=7' })),
    ).toMatchObject({ code: 'ERR_ARGUMENT_RANGE', field: 'fileRoot' });
  });

  it('replace the line ends of the environment', () => {
    vi.stubEnv('LOGNAME', 'me\nnumprocs=7\r\n');
    const rank = openRank({ rank: 0, size: 1, directory });
    vi.unstubAllEnvs();
    rank.close();
    const metafile = readMetafile(rank.path.replace('-0000.bin', '.meta'));
    expect(metafile).toMatchObject({ numprocs: 1, username: 'me numprocs=7 ' });
    expect(readSections(rank.path).header!.username).toBe('me numprocs=7 ');
  });

  it('are read with the line ends of any system', () => {
    const meta = join(directory, 'windows.meta');
    writeFileSync(meta, 'numprocs=1\r\nfileprefix=run\r\n');
    expect(readMetafile(meta)).toMatchObject({ numprocs: 1, fileprefix: 'run' });
  });
});
