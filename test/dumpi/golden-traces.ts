import { existsSync, readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const directory = fileURLToPath(new URL('../../../shared/golden/dumpi/', import.meta.url));

/** Whether the traces that the format's own library wrote are at hand. */
export const haveGolden = existsSync(directory);

/** Path of a golden file. */
export function golden(name: string): string {
  return directory + name;
}

/** The golden files whose names end like this. */
export function goldenFiles(end: string): string[] {
  return haveGolden ? readdirSync(directory).filter((name) => name.endsWith(end)) : [];
}
