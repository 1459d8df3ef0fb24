import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { fileURLToPath } from 'node:url';
import { temporaryDirectory } from '../heph/temporary-file.js';

const root = fileURLToPath(new URL('../..', import.meta.url));
const directory = temporaryDirectory();

test('ship to nats: names the packages that are not installed', () => {
  for (const part of ['dist', join('build', 'Release'), 'package.json']) {
    mkdirSync(join(directory, 'installed', 'build'), { recursive: true });
    cpSync(join(root, part), join(directory, 'installed', part), { recursive: true });
  }
  const command = join(directory, 'installed', 'dist', 'cli', 'main.js');
  const to = ['--to', 'nats://127.0.0.1:4222', '--once'];
  const { status, stderr } = spawnSync(process.execPath, [command, 'ship', directory, ...to], {
    encoding: 'utf8',
    // Packages are looked for in the working directory, too.
    cwd: directory,
  });
  expect(stderr).toContain(
    '--to nats: needs @nats-io/transport-node: npm install @nats-io/transport-node @nats-io/jetstream',
  );
  expect(status).toBe(2);
});
