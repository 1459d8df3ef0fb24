import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const command = fileURLToPath(new URL('../../torture/run.mjs', import.meta.url));

// A shorter one of what `npm run torture -- --workers 10000` does.
describe.runIf(process.platform === 'linux')('96 workers, half of them terminated', () => {
  it('leave no ring, file, descriptor or memory behind', () => {
    const { status, stdout, stderr } = spawnSync(process.execPath, [command, '--workers', '96'], {
      encoding: 'utf8',
    });
    expect(stdout + stderr).toContain('nothing grew');
    expect(status).toBe(0);
  }, 300_000);
});
