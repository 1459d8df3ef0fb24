import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { TraceFormatError } from '../../src/core/errors.js';
import { readMetafile } from '../../src/dumpi/metafile.js';
import { temporaryDirectory } from '../heph/temporary-file.js';

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
});
