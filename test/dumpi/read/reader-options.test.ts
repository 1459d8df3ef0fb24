import { describe, expect, it } from 'vitest';
import { checkRun, checkTrace } from '../../../src/dumpi/read/check.js';
import { dumpi2ascii } from '../../../src/dumpi/read/dumpi2ascii.js';
import { readCalls } from '../../../src/dumpi/read/reader.js';
import { readSections } from '../../../src/dumpi/read/section-reader.js';
import { temporaryDirectory } from '../../heph/temporary-file.js';
import { writeBuilt } from '../trace-building.js';

const directory = temporaryDirectory();

describe('options of readers', () => {
  it.each([
    ['readCalls', (path: string) => [...readCalls(path, { maxBytes: 1 } as never)]],
    ['readSections', (path: string) => readSections(path, { maxBytes: 1 } as never)],
    ['dumpi2ascii', (path: string) => [...dumpi2ascii(path, { maxBytes: 1 } as never)]],
    ['checkTrace', (path: string) => [...checkTrace(path, { repeat: 1 } as never)]],
    ['checkRun', (path: string) => [...checkRun(path, { repeat: 1 } as never)]],
  ])('%s refuses one that it does not know', (_, read) => {
    const path = writeBuilt(directory, 'options.bin', { calls: [] });
    expect(() => read(path)).toThrow(
      expect.objectContaining({ code: 'ERR_ARGUMENT_RANGE', field: 'option' }),
    );
  });
});
