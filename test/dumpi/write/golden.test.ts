import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { readCalls } from '../../../src/dumpi/read/reader.js';
import { openRank } from '../../../src/dumpi/write/rank.js';
import { goldenBytes, goldenTraces, sha256 } from '../golden-traces.js';
import { runDirectory } from './opened-rank.js';

/** The library writes the version that we write too. */
const written = Object.entries(goldenTraces).filter(([, { version }]) => version[0] === 13);
/** Magic, then the seconds from which both clocks count. */
const BIASES = { from: 8, to: 16 };
/** Of a record with thread: label, mask and thread, then four readings of 6 bytes. */
const CLOCKS = { from: 5, to: 29 };

describe('the calls of the golden traces', () => {
  // A rank reads the clocks itself, and nobody can give it their readings.
  it.each(written)('make %s again in a rank, byte for byte but for the clocks', (_, trace) => {
    const {
      hostname,
      username,
      startTime,
      calls,
      datatypeSizes,
      version,
      sha256: expected,
    } = trace;
    const rank = openRank({
      directory: runDirectory(),
      rank: 1,
      size: 2,
      hostname,
      username,
      startTime: new Date(startTime * 1000),
      config: { timestamps: 'full' },
      datatypeSizes,
    });
    for (const [name, , thread, , , fields] of calls) {
      rank.log(name as 'MPI_Barrier', fields as never, undefined, thread);
    }
    rank.close();
    const bytes = readFileSync(rank.path);
    const library = goldenBytes(trace);
    expect(version).toEqual([13, 0, 0]);
    expect(bytes.length).toBe(library.length);
    library.copy(bytes, BIASES.from, BIASES.from, BIASES.to);
    for (const { offset } of readCalls(rank.path)) {
      library.copy(bytes, offset + CLOCKS.from, offset + CLOCKS.from, offset + CLOCKS.to);
    }
    expect(sha256(bytes)).toBe(expected);
  });
});
