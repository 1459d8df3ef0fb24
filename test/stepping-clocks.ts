import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const source = new URL('../native/test/preload/stepping_clocks.cc', import.meta.url);

/**
 * What a process preloads so that its clocks can be moved: see stepping_clocks.cc. Undefined without Linux and a
 * compiler.
 *
 * @param directory where it is compiled.
 */
export function steppingClocks(directory: string): string | undefined {
  if (process.platform !== 'linux') return undefined;
  const path = join(directory, 'stepping-clocks.so');
  const args = ['-shared', '-fPIC', '-o', path, fileURLToPath(source), '-ldl'];
  return spawnSync('c++', args).status === 0 ? path : undefined;
}
