import { realpathSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { TracewrightError } from '../core/errors.js';

/** Where packages are looked for: next to the command, then in the project of the working directory. */
function directories(): string[] {
  const [, script] = process.argv;
  const project = join(process.cwd(), 'x');
  if (script === undefined) return [project];
  try {
    // npm starts the command by a link.
    return [realpathSync(script), script, project];
  } catch {
    return [script, project];
  }
}

/**
 * Loads a package that only some options need.
 *
 * @param install what a person has to install.
 * @throws TracewrightError `ERR_DEPENDENCY` when it cannot be found.
 */
export function loadOptionalPackage(name: string, field: string, install: string): unknown {
  let cause: unknown;
  for (const directory of directories()) {
    try {
      return createRequire(directory)(name) as unknown;
    } catch (error) {
      cause ??= error;
    }
  }
  const limit = `npm install ${install}`;
  throw new TracewrightError('ERR_DEPENDENCY', `${field} needs ${name}: ${limit}`, {
    field,
    value: name,
    limit,
    cause,
  });
}
