import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { openTrace } from '../../../src/heph/write/trace.js';
import { openReferences, recoverTrace } from '../../../src/laplace/index.js';
import { temporaryDirectory } from '../../heph/temporary-file.js';
import { tracewright } from '../run-command.js';

const directory = temporaryDirectory();
const killed = fileURLToPath(new URL('../../laplace/fixtures/killed.mjs', import.meta.url));
const RECORD_BYTES = 18;
const COUNT = 8;

/** Laplace traces that a killed process has left. */
function leftIn(place: string): { references: string } {
  mkdirSync(place);
  const paths = { references: join(place, 'references'), kernel: join(place, 'kernel') };
  const order = JSON.stringify({ ...paths, form: 'binary', count: COUNT });
  expect(spawnSync(process.execPath, [killed, order]).signal).toBe('SIGKILL');
  return paths;
}

describe('tracewright recover of a directory', { timeout: 60_000 }, () => {
  it('goes on behind a trace whose process is alive, and says so', async () => {
    const place = join(directory, 'alive');
    const { references } = leftIn(place);
    const live = openTrace(join(place, 'a.heph'));
    const stream = live.stream();
    stream.finishTrace(stream.startTrace(), 'not yet ended');
    const { status, stderr } = tracewright('recover', place);
    expect(stderr).toContain(`process ${process.pid} is alive`);
    expect(status).toBe(2);
    expect(readFileSync(references).length).toBe(COUNT * RECORD_BYTES);
    await live.close();
    expect(tracewright('recover', place)).toMatchObject({ status: 0, stderr: '' });
  });
});

describe('a link in the place of a ring', () => {
  it('is ignored by a recovery, and a typed error of opening a trace there', () => {
    const path = join(directory, 'planted');
    writeFileSync(`${path}.ring`, '');
    symlinkSync(`${path}.ring`, join(directory, '.planted.ring'));
    const ring = join(directory, '.planted.ring');
    expect(recoverTrace(path)).toMatchObject({
      faults: [],
      ignored: [{ code: 'ERR_SYSTEM', value: ring }],
    });
    expect(() => openReferences(path)).toThrow(
      expect.objectContaining({ code: 'ERR_TRACE_EXISTS' }),
    );
  });
});
