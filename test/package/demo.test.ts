import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, it } from 'vitest';
import { runScript } from '../fixtures/run-fixture.js';

const root = fileURLToPath(new URL('../../', import.meta.url));
const script = join(root, 'scripts/demo.mjs');
/** What the demo cannot do without: the built package and its addon. */
const missing = ['dist/node/register.js', 'build/Release/tracewright.node'].filter(
  (name) => !existsSync(join(root, name)),
);

const folder = mkdtempSync(join(tmpdir(), 'tracewright-demo-'));
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

/** Of the demo's JSON, what the test looks at. */
interface Summary {
  directory: string;
  requests: { plain: number; traced: number };
  cost: { recordsPerRequest: number; bytesPerRequest: number };
  ovni: { threads: number; events: number };
  heph: { spans: number };
  lost: number;
  errors: string[];
}

describe('the demo', () => {
  it('loses no span and finds no error, and says so', async ({ skip }) => {
    skip(missing.length > 0, `the demo needs ${missing.join(' and ')}: run npm run compile`);
    // Ten seconds: 1 s of load on each service, and what it does before and after.
    const args = ['--seconds', '1', '--connections', '8'];
    const { code, stdout, stderr } = await runScript(script, {
      args: [...args, '--json'],
      cwd: folder,
    });
    expect([code, stderr]).toEqual([0, expect.stringContaining('under load in turns')]);
    const { cost, directory, errors, heph, lost, ovni, requests } = JSON.parse(stdout) as Summary;
    expect({ errors, lost }).toEqual({ errors: [], lost: 0 });
    expect(requests.plain).toBeGreaterThan(100);
    expect(requests.traced).toBeGreaterThan(100);
    // One for each answered request; those that the load left open at its end are more.
    expect(heph.spans).toBeGreaterThanOrEqual(requests.traced);
    expect(heph.spans).toBeLessThan(1.1 * requests.traced + 100);
    // The main thread and two workers, and streams of garbage collections.
    expect(ovni.threads).toBeGreaterThanOrEqual(3);
    expect(ovni.events).toBeGreaterThan(10);
    expect(cost.recordsPerRequest).toBeCloseTo((ovni.events + heph.spans) / requests.traced, 5);
    expect(existsSync(join(folder, directory, 'heph'))).toBe(true);
  });

  it('refuses options that it does not know, and numbers out of their range', async () => {
    for (const [args, message] of [
      [['--second', '1'], /Unknown option/],
      [['--seconds', '0'], /--seconds must be an integer from 1 to 600/],
    ] as const) {
      const { code, stderr } = await runScript(script, { args: [...args], cwd: folder });
      expect([code, stderr]).toEqual([2, expect.stringMatching(message)]);
    }
  });
});
