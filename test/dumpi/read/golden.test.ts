import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { dumpi2ascii } from '../../../src/dumpi/read/dumpi2ascii.js';
import { CallCursor } from '../../../src/dumpi/read/reader.js';
import { readSections } from '../../../src/dumpi/read/section-reader.js';
import { golden, goldenFiles, goldenRuns, goldenTraces, sha256 } from '../golden-traces.js';

process.env['TZ'] = 'UTC';

describe('golden traces', () => {
  it.each(goldenFiles())('%s is the library’s file, byte for byte', (name) => {
    expect(sha256(readFileSync(golden(name)))).toBe(goldenTraces[name]!.sha256);
  });

  it.each(Object.entries(goldenRuns))('%s has the library’s metafile', (run, expected) => {
    expect(sha256(readFileSync(golden(`${run}.meta`)))).toBe(expected);
  });

  it.each(goldenFiles())('%s decodes with no byte left', (name) => {
    const sections = readSections(golden(name));
    const cursor = CallCursor.ofTrace(sections);
    while (cursor.next() !== undefined);
    const { index, extents } = sections;
    const covered = [
      { offset: 0, size: 8 },
      { offset: index.body, size: cursor.offset - index.body },
    ];
    covered.push(...Object.values(extents));
    // An empty section of keyvals is written but not indexed.
    if (index.keyvals === 0) {
      const { offset, size } = extents.footer!;
      covered.push({ offset: offset + size, size: 4 });
    }
    covered.sort((a, b) => a.offset - b.offset);
    let at = 0;
    for (const { offset, size } of covered) {
      expect(offset).toBe(at);
      at += size;
    }
    expect(at).toBe(sections.indexOffset);
    cursor.close();
  });

  it.each(goldenFiles('printed'))('prints %s as the format’s own reader does', (name) => {
    const lines = [...dumpi2ascii(golden(name))];
    expect(sha256(`${lines.join('\n')}\n`)).toBe(goldenTraces[name]!.textSha256);
  });
});
