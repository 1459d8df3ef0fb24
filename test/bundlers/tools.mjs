// The bundlers and loaders that are tested, at fixed versions, which npm brings into a directory of
// their own.

import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const versions = {
  '@rollup/plugin-commonjs': '29.0.3',
  '@rollup/plugin-node-resolve': '16.0.3',
  '@types/node': '20.19.43',
  '@vercel/ncc': '0.45.0',
  '@vercel/nft': '1.11.5',
  bun: '1.4.5',
  deno: '2.9.6',
  esbuild: '0.28.2',
  jest: '30.5.2',
  next: '16.4.6',
  react: '19.3.1',
  'react-dom': '19.3.1',
  rollup: '4.68.7',
  'ts-node': '10.9.2',
  tsx: '4.23.15',
  typescript: '5.9.3',
  webpack: '5.112.2',
  'webpack-cli': '7.3.1',
};

/**
 * The directory of the tools' packages. They are installed once for each set of versions.
 *
 * @throws when npm cannot install them.
 */
export function installTools() {
  const manifest = JSON.stringify({ private: true, dependencies: versions });
  const hash = createHash('sha256').update(manifest).digest('hex').slice(0, 12);
  const place = join(tmpdir(), `tracewright-bundlers-${hash}`);
  const complete = join(place, 'complete');
  if (!existsSync(complete)) {
    mkdirSync(place, { recursive: true });
    writeFileSync(join(place, 'package.json'), manifest);
    process.stderr.write('npm installs the bundlers (some 500 MB) ...\n');
    const { status } = spawnSync('npm', ['install', '--no-audit', '--no-fund'], {
      cwd: place,
      stdio: ['ignore', 2, 2],
    });
    if (status !== 0) throw new Error('npm could not install the bundlers');
    writeFileSync(complete, '');
  }
  return join(place, 'node_modules');
}
