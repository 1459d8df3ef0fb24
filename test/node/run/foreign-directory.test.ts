import { spawnSync } from 'node:child_process';
import { chmodSync, chownSync, mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { temporaryDirectory } from '../../heph/temporary-file.js';

const register = fileURLToPath(new URL('../../../dist/node/register.js', import.meta.url));

it.skipIf(process.getuid?.() !== 0)(
  'a directory in which another user lets nobody is as one that is taken',
  () => {
    const above = temporaryDirectory();
    chmodSync(above, 0o777);
    for (const name of ['own', 'own.1']) {
      mkdirSync(join(above, name), { mode: 0o700 });
      chownSync(join(above, name), 65_532, 65_532);
    }
    const { status, stderr } = spawnSync(process.execPath, ['--require', register, '-e', '0'], {
      uid: 65_534,
      gid: 65_534,
      env: { TRACEWRIGHT_DIR: join(above, 'own') },
      encoding: 'utf8',
    });
    expect({ status, stderr: stderr.replace(/^tracewright: .*\n/gm, '') }).toEqual({
      status: 0,
      stderr: '',
    });
    expect(readdirSync(above)).toContain('own.2');
  },
);
