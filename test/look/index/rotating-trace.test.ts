import { mkdtempSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { Source } from '../../../src/look/index/look-index.js';
import { openLookIndex } from '../../../src/look/index/open-look-index.js';
import { startService } from '../../fixtures/running-service.js';
import { temporaryDirectory } from '../../heph/temporary-file.js';

const above = temporaryDirectory();
const SIZES = { RING_BYTES: 64, ROTATE_BYTES: 128, MAX_BYTES: 512 };

it('a trace is followed whose oldest pieces are deleted again and again', async () => {
  const directory = mkdtempSync(join(above, 'trace-'));
  const env = Object.fromEntries(
    Object.entries(SIZES).map(([name, size]) => [`TRACEWRIGHT_${name}`, String(1024 * size)]),
  );
  const service = await startService(join(directory, 'shop.heph'), 'shop', env);
  await service.record(1, 'GET /first');
  const index = await openLookIndex([directory], { cache: false });
  let isRecording = true;
  const record = async (): Promise<void> => {
    while (isRecording) await service.record(2000, 'GET /next');
  };
  const recorded = record();
  const pieces = new Set<string>();
  // Time for a hundred pieces, about.
  for (const end = Date.now() + 4000; Date.now() < end;) {
    await index.refresh();
    expect(index.sources).toMatchObject([{ service: 'shop', pid: service.pid }]);
    const [{ losses, deleted }] = index.sources as [Source];
    // Of what the budget has not deleted, nothing is missing.
    expect(losses).toHaveLength(deleted === undefined ? 0 : 1);
    expect(index.rows).toBeGreaterThan(0);
    for (const name of readdirSync(directory)) pieces.add(name);
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
  isRecording = false;
  await recorded;
  expect(pieces.size).toBeGreaterThan(10);
  index.close();
  await service.kill();
});
