import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openTrace } from '../../../src/heph/index.js';
import { openLookIndex } from '../../../src/look/index/open-look-index.js';
import { temporaryDirectory } from '../../heph/temporary-file.js';

const above = temporaryDirectory();

async function recorded(): Promise<string> {
  const directory = mkdtempSync(join(above, 'traces-'));
  const trace = openTrace(join(directory, 'one.heph'));
  const stream = trace.stream();
  stream.finishTrace(stream.startTrace(), 'work');
  await trace.close();
  return directory;
}

/** A name that is not UTF-8. */
const notText = (directory: string, name: string): Buffer =>
  Buffer.concat([Buffer.from(`${directory}/`), Buffer.from(name, 'latin1')]);

describe('what is readable is shown', () => {
  it('next to names that are not UTF-8', async () => {
    const directory = await recorded();
    mkdirSync(notText(directory, 'b\xffd'));
    writeFileSync(notText(directory, 'b\xffd/two.heph'), 'x');
    for (let i = 0; i < 12; i++) writeFileSync(notText(directory, `${i}\xff.heph`), 'x');
    const index = await openLookIndex([directory], { cache: false });
    expect(index.sources.filter(({ path }) => path.endsWith('one.heph'))).toHaveLength(1);
    expect(index.rows).toBe(1);
    await index.refresh();
    expect(index.rows).toBe(1);
    index.close();
  });

  it('next to directories that come and go', async () => {
    const directory = await recorded();
    const churn = `
      const { mkdirSync, rmSync, writeFileSync } = require('node:fs');
      let i = 0;
      setInterval(() => {
        i = (i + 1) % 20;
        const below = process.argv[1] + '/d' + i;
        mkdirSync(below, { recursive: true });
        writeFileSync(below + '/x.heph', '');
        if (i > 0) rmSync(process.argv[1] + '/d' + (i - 1), { recursive: true, force: true });
      }, 1);`;
    const child = spawn(process.execPath, ['-e', churn, directory], { stdio: 'ignore' });
    try {
      for (let i = 0; i < 4; i++) {
        const index = await openLookIndex([directory], { cache: false });
        expect(index.rows).toBe(1);
        await index.refresh();
        expect(index.rows).toBe(1);
        index.close();
      }
    } finally {
      child.kill('SIGKILL');
    }
  }, 120_000);
});
