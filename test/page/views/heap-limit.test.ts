import { execFileSync } from 'node:child_process';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { main } from '../../cli/run-command.js';
import { noBrowser, titleOf } from '../browser.js';
import { ViewedTraces } from '../viewed-traces.js';

const program = fileURLToPath(new URL('../../node/fixtures/limited-heaps.mjs', import.meta.url));

function record(directory: string, ...flags: string[]): string {
  const register = join(dirname(main), '../node/register.js');
  execFileSync(process.execPath, ['--import', register, ...flags, program], {
    env: {
      ...process.env,
      TRACEWRIGHT_DIR: directory,
      TRACEWRIGHT_QUIET: '1',
      TRACEWRIGHT_STALL_MS: '1s',
    },
  });
  return directory;
}

describe.skipIf(noBrowser !== undefined)(titleOf('the chart of heaps'), () => {
  const near = new ViewedTraces((directory) => [
    // V8 adds three times the young generation to its limit: 192 MiB on a large machine.
    record(join(directory, 'near'), '--max-old-space-size=100', '--max-semi-space-size=16'),
  ]);
  const far = new ViewedTraces((directory) => [record(join(directory, 'far'))]);

  it.each([
    ['draws a limit that a heap comes close to', near, true],
    ['leaves out one that is far away', far, false],
  ])('%s', async (_, traces, isDrawn) => {
    const { page } = await traces.open(undefined, '/overview');
    const caption = page.locator('figure', { hasText: 'Heap' }).locator('figcaption');
    const text = await caption.textContent();
    expect(text).toContain('worker');
    expect(text?.includes('limit')).toBe(isDrawn);
  });
});
