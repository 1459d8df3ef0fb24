import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const command = fileURLToPath(new URL('../../torture/faults.mjs', import.meta.url));

// Some rows of what `npm run torture:faults` does for every fault, format and policy.
describe.runIf(process.platform === 'linux')('what a process has acknowledged', () => {
  it.each([
    'directory deleted',
    'disk full to the end',
    'disk full, killed',
    'rotation within a budget',
    'unix peer goes away',
    'no descriptor left',
  ])(
    'is in the trace or counted as lost: %s',
    (fault) => {
      const { status, stdout, stderr } = spawnSync(
        process.execPath,
        [command, '--events', '4000', '--seed', '1', '--only', fault],
        { encoding: 'utf8' },
      );
      expect(stdout + stderr).toMatch(/ 0 wrong/);
      expect(stdout).not.toMatch(/WRONG|FAILED/);
      expect(status).toBe(0);
    },
    120_000,
  );
});
