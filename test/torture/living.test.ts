import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const command = fileURLToPath(new URL('../../torture/living.mjs', import.meta.url));

// A shorter one of what `npm run torture:living` does at length.
describe.runIf(process.platform === 'linux')('a trace that is read while it is written', () => {
  it('has every record once, in rings, pieces and recoveries, in every format', () => {
    const { status, stdout, stderr } = spawnSync(
      process.execPath,
      [command, '--records', '600000', '--kills', '2', '--seed', '1'],
      { encoding: 'utf8' },
    );
    for (const format of ['heph', 'ovni 1', 'ovni 3', 'dumpi', 'laplace']) {
      expect(stdout + stderr).toMatch(
        new RegExp(`^${format}: .*none torn, doubled or missing`, 'm'),
      );
      expect(stdout + stderr).toMatch(new RegExp(`^${format}: 2 kills: .* all the same$`, 'm'));
    }
    expect(status).toBe(0);
  }, 120_000);
});
