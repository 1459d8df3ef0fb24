import { readFileSync, realpathSync } from 'node:fs';
import { programPath } from '../core/program-path.js';
import { dirname, extname, join } from 'node:path';

/** The `type` of the package.json that counts for a file. */
function packageType(file: string): unknown {
  for (let directory = dirname(file); ; directory = dirname(directory)) {
    try {
      const text = readFileSync(join(directory, 'package.json'), 'utf8');
      return (JSON.parse(text) as { type?: unknown }).type;
    } catch {
      // None here, or none that can be read.
    }
    if (directory === dirname(directory)) return undefined;
  }
}

/** How Node loads the program's main file. What a loader of TypeScript does with it is unknown: `module`. */
export function programFormat(): 'commonjs' | 'module' {
  const script = programPath();
  if (script === undefined) return 'commonjs';
  let file = script;
  try {
    file = realpathSync(script);
  } catch {
    // Without its extension, for instance.
  }
  switch (extname(file)) {
    case '.cjs':
    case '.cts':
      return 'commonjs';
    case '.mjs':
    case '.mts':
      return 'module';
    default:
      return packageType(file) === 'module' ? 'module' : 'commonjs';
  }
}
