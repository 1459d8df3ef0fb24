import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { resultOfFixture } from '../../fixtures/run-fixture.js';
import { eventsOf, faultsOf, streamsOf } from '../stream-content.js';
import { temporaryFolder } from '../trace-building.js';

/** The emulator reads traces of version 3. */
const emulator = process.env['OVNIEMU'];

it.each([1, 3] as const)('marks hold for all threads, version %i', async (version) => {
  const traceDir = join(temporaryFolder(), 'ovni');
  const result = await resultOfFixture('ovni/shared-marks.mjs', { input: { traceDir, version } });
  expect(result).toEqual({
    before: 'ERR_ORDER markPush: threadInit must be called first',
    inWorker: {
      undefinedYet: 'ERR_ARGUMENT_RANGE type must be a type that markType has defined, got 1',
      again: 'done',
      otherTitle:
        'ERR_ARGUMENT_RANGE type must be a new one: it is defined as "requests", a stack, got 1',
      otherKind: 'ERR_ARGUMENT_RANGE type must be a new one: it is defined as "phase", got 2',
      otherLabel: 'ERR_ARGUMENT_RANGE value must be a new one: its label is "warm", got 1',
      notDefined: 'ERR_ARGUMENT_RANGE type must be a type that markType has defined, got 9',
    },
    conflict: 'ERR_ARGUMENT_RANGE value must be a new one: its label is "hot", got 3',
  });
  expect(faultsOf(traceDir)).toEqual([]);
  const marks = streamsOf(traceDir).map((stream) =>
    eventsOf(stream).filter(({ mcv }) => mcv.startsWith('OM')),
  );
  expect(marks.map(({ length }) => length)).toEqual([2, 60]);
  if (emulator === undefined || version !== 3) return;
  const { status, stderr } = spawnSync(emulator, [traceDir], { encoding: 'utf8' });
  expect(stderr).not.toContain('ERROR');
  expect(status).toBe(0);
});
