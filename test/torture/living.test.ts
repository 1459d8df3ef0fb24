import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const command = fileURLToPath(new URL('../../torture/living.mjs', import.meta.url));

// A shorter one of what `npm run torture:living` does at length.
describe.runIf(process.platform === 'linux')('a trace that is read while it is written', () => {
  it('has every event once, in rings, pieces and recoveries', () => {
    const { status, stdout, stderr } = spawnSync(
      process.execPath,
      [command, '--records', '2000000', '--kills', '5', '--seed', '1'],
      { encoding: 'utf8' },
    );
    expect(stdout + stderr).toContain('none torn, doubled or missing');
    expect(stdout).toContain('all the same');
    expect(status).toBe(0);
  }, 120_000);
});
