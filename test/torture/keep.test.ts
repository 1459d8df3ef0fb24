import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const command = fileURLToPath(new URL('../../torture/keep.mjs', import.meta.url));

// A shorter one of what `npm run torture:keep` does at length.
test.runIf(process.platform === 'linux')(
  'a kill loses no kept request, doubles none, and leaves the undecided ones',
  () => {
    const { status, stdout, stderr } = spawnSync(
      process.execPath,
      [command, '--rounds', '5', '--seed', '1'],
      { encoding: 'utf8' },
    );
    expect(stderr).toBe('');
    expect(stdout).toMatch(
      /^5 killed processes: \d+ kept requests whole, \d+ undecided ones there/m,
    );
    expect(status).toBe(0);
  },
);
