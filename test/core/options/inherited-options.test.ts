import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { resultOfFixture, runFixture } from '../../fixtures/run-fixture.js';
import { ownOptions } from '../../../src/core/options/argument.js';

const NAMES =
  'atMaxBytes blockLimitMs clock config datagramBytes datatypeSizes enabled endian exists fileRoot ' +
  'flushTimeoutMs form group hostname kind lengthOffset maxBytes maxPacketBytes mesh onFault onFull ' +
  'onProgress preamble processName repeats ringBytes ringDir rotateBytes shift stack startTime tcp ' +
  'udp unix username waitMs file';

let directory: string;

beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'tracewright-options-'));
});

afterAll(() => {
  rmSync(directory, { recursive: true, force: true });
});

describe('options', () => {
  it('are only what the caller has given, whatever Object.prototype has', async () => {
    const names = NAMES.split(' ');
    expect(
      await resultOfFixture('core/inherited-options.mjs', { input: { directory, names } }),
    ).toEqual({
      heph: 2,
      hephDropped: 0,
      hephErrors: 0,
      ovni: 0,
      dumpi: 0,
      laplace: 1,
      kernel: 0,
    });
  });

  it('of a traced service are those of its environment', async () => {
    const pollute = `for (const name of ${JSON.stringify(NAMES.split(' '))}) Object.prototype[name] = 1;`;
    const { code, stderr } = await runFixture('node/quiet.mjs', {
      env: { TRACEWRIGHT_DIR: join(directory, 'hook') },
      execArgv: [
        ...['--import', `data:text/javascript,${encodeURIComponent(pollute)}`],
        ...['--import', 'tracewright/register'],
      ],
    });
    expect(code).toBe(0);
    expect(stderr).toMatch(/^tracewright: quiet .* is traced in /);
    expect(stderr).not.toContain('Warning');
  });

  it('are read once', () => {
    let reads = 0;
    const options = ownOptions(
      {
        get size() {
          return (reads += 1);
        },
      },
      ['size'],
    );
    expect([options.size, options.size, reads]).toEqual([1, 1, 1]);
  });

  it('are not those of a class', () => {
    class Inherited {
      declare ringBytes: number;
    }
    Inherited.prototype.ringBytes = 1;
    expect(ownOptions(new Inherited()).ringBytes).toBeUndefined();
  });
});
