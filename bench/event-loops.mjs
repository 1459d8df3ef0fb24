import { execFileSync } from 'node:child_process';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';

/**
 * The loops of native/bench, built when they are missing or old.
 *
 * @typedef {object} EventLoops
 * @property {(target: string, ring: string, ringBytes: number, scaled: boolean) => object} open
 * @property {(producer: object, count: number) => void} bareEvents
 * @property {(producer: object, count: number) => void} payloadEvents
 * @property {(producer: object, count: number) => void} markEvents
 * @property {(producer: object, count: number) => void} jumboEvents
 * @property {(producer: object) => boolean} flush
 * @property {(producer: object) => void} close
 * @property {(target: string, ring: string, ringBytes: number) => object} dumpiOpen
 * @property {(sender: object, count: number) => void} dumpiSends
 * @property {(count: number) => void} dumpiCpuClocks
 * @property {(sender: object) => boolean} dumpiFlush
 * @property {(sender: object) => void} dumpiClose
 * @property {(from: string, to: string) => number} laplaceToText
 * @property {(from: string, to: string) => number} laplaceToBinary
 * @property {boolean} scaledClock whether this machine's kernel keeps time by the TSC.
 */

/** @returns {EventLoops} */
export function loadEventLoops() {
  const build = fileURLToPath(new URL('../build/bench', import.meta.url));
  const script = fileURLToPath(new URL('../scripts/build-native.mjs', import.meta.url));
  // Not where the package looks for its own addon.
  const args = [script, '--target', 'tracewright_bench', '--output', build, '--if-stale'];
  execFileSync(process.execPath, args, { stdio: ['ignore', 2, 2] });
  return createRequire(import.meta.url)(`${build}/Release/tracewright_bench.node`);
}
