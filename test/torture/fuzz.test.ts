import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const command = fileURLToPath(new URL('../../torture/run.mjs', import.meta.url));

// A fixed number of what `npm run torture -- --fuzz N` does at length.
describe.runIf(process.platform === 'linux')('broken input', () => {
  it('gives a typed error with its offset in every reader, and nothing else', () => {
    const { status, stdout, stderr } = spawnSync(
      process.execPath,
      [command, '--fuzz', '200', '--seed', '1'],
      { encoding: 'utf8' },
    );
    expect(stdout + stderr).not.toMatch(/input \d+:/);
    expect(status).toBe(0);
  });
});
