import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const command = fileURLToPath(new URL('../../torture/stalls.mjs', import.meta.url));

// A shorter one of what `npm run torture:stalls` does at length.
describe.runIf(process.platform === 'linux')('threads whose stacks are taken all the time', () => {
  it('do not crash, and leave whole records', () => {
    const { status, stdout, stderr } = spawnSync(
      process.execPath,
      [command, '--seconds', '8', '--seed', '1'],
      { encoding: 'utf8' },
    );
    expect(stderr).toBe('');
    expect(stdout).toMatch(/[1-9]\d* stacks \(\d+ a second\), [1-9]\d* samples, .*none is torn$/m);
    expect(status).toBe(0);
  });
});
