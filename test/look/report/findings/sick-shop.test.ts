import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { temporaryDirectory } from '../../../heph/temporary-file.js';
import { reportOn } from '../recorded-service.js';
import type { Finding } from '../../../../src/look/report/shape/finding-shape.js';

const SECONDS = 42;
const ROOT = join(import.meta.dirname, '../../../..');

/** What the report finds of the shop of the examples, which ran as long as a recording must be. */
async function findingsOf(...sicknesses: string[]): Promise<Finding[]> {
  const directory = join(temporaryDirectory(), 'run');
  const hook = join(ROOT, 'dist/node/register.js');
  const shop = join(ROOT, 'examples/busy-shop.mjs');
  const child = spawn(process.execPath, ['--require', hook, shop, String(SECONDS), ...sicknesses], {
    env: {
      ...process.env,
      TRACEWRIGHT_DIR: directory,
      OTEL_SERVICE_NAME: 'shop',
      // Other tests record no stalls.
      TRACEWRIGHT_STALL_MS: '50',
    },
    stdio: 'ignore',
  });
  const [code] = (await once(child, 'exit')) as [number | null];
  expect(code).toBe(0);
  const { report } = await reportOn([directory]);
  return report.findings;
}

it(
  'of a sick shop its sicknesses are found, and none of the repaired one',
  { timeout: 180_000 },
  async () => {
    const sick = await findingsOf();
    const seen = sick.map(({ rule, text }) => `${rule}: ${text.split(/ of shop|:/)[0]!}`);
    expect(seen.toSorted()).toEqual([
      expect.stringMatching(/^blocking line: shop was blocked for .* by .*trimmed/),
      'dominated tail: GET /shipping',
      'failures: POST /buy',
      'failures: POST /buy',
      'pool is the queue: generic pool',
      'repeated calls: GET /customers/',
      'retries: process mails',
    ]);
    // Failed requests come before lost time.
    expect(sick.slice(0, 2).map(({ rule }) => rule)).toEqual(['failures', 'failures']);
    expect(await findingsOf('repaired')).toEqual([]);
  },
);
