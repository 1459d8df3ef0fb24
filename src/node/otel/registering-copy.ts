import { readFileSync } from 'node:fs';
import { programPath } from '../../core/program-path.js';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/**
 * The version of the copy of `@opentelemetry/api` that registers something. A copy accepts a global object of
 * its own version only, and does not say which that is. The stack says which file it is.
 */

const API = '@opentelemetry/api';
const VERSION = /^\d+\.\d+\.\d+(?:-[\w.]+)?$/;
const LITERAL = '["\'`](1\\.\\d+\\.\\d+(?:-[\\w.]+)?)["\'`]';
/** How far the parts of the registering function are from each other in a bundle. */
const REACH = 1500;

interface Position {
  file: string;
  line: number;
  column: number;
}

/** Where the function was called that calls `above`. */
function callerOf(above: (value: unknown) => void): Position | undefined {
  const { stackTraceLimit } = Error;
  const prepare: unknown = Reflect.get(Error, 'prepareStackTrace');
  try {
    Error.stackTraceLimit = 1;
    Error.prepareStackTrace = (_, sites) => sites;
    const holder: { stack?: NodeJS.CallSite[] } = {};
    Error.captureStackTrace(holder, above);
    const site = holder.stack?.[0];
    const name = site?.getFileName() ?? site?.getScriptNameOrSourceURL();
    if (site === undefined || typeof name !== 'string') return undefined;
    return {
      file: name.startsWith('file:') ? fileURLToPath(name) : name,
      line: site.getLineNumber() ?? 1,
      column: site.getColumnNumber() ?? 1,
    };
  } finally {
    Error.stackTraceLimit = stackTraceLimit;
    Reflect.set(Error, 'prepareStackTrace', prepare);
  }
}

/** The version in the package.json of the API, of which `file` is a part. */
function packageVersion(file: string): string | undefined {
  for (let directory = dirname(file); ; directory = dirname(directory)) {
    try {
      const { name, version } = JSON.parse(
        readFileSync(join(directory, 'package.json'), 'utf8'),
      ) as {
        name?: unknown;
        version?: unknown;
      };
      // A package.json without a name only says how its directory's files are loaded.
      if (name === API && typeof version === 'string') return version;
      if (name !== undefined) return undefined;
    } catch {
      // There is none.
    }
    if (directory === dirname(directory)) return undefined;
  }
}

/** The match of a pattern that is nearest to an offset in a text. */
function nearest(text: string, pattern: RegExp, at: number): RegExpMatchArray | undefined {
  let found: RegExpMatchArray | undefined;
  for (const match of text.matchAll(pattern)) {
    if (found === undefined || Math.abs(match.index - at) < Math.abs(found.index! - at)) {
      found = match;
    }
  }
  return found;
}

const escaped = (name: string): string => name.replaceAll('$', '\\$');

/** The literal that a name has in a bundle: `x="1.9.0"`, or `x:()=>y` and `y="1.9.0"`. */
function definition(text: string, name: string, at: number): string | undefined {
  const plain = nearest(
    text,
    new RegExp(`(?<![\\w$])${escaped(name)}\\s*=\\s*${LITERAL}`, 'g'),
    at,
  );
  if (plain !== undefined) return plain[1];
  const exported = `(?<![\\w$])["']?${escaped(name)}["']?\\s*:\\s*(?:\\(\\)\\s*=>|function\\s*\\(\\)\\s*\\{\\s*return)\\s*([\\w$]+)`;
  const other = nearest(text, new RegExp(exported, 'g'), at)?.[1];
  if (other === undefined || other === name) return undefined;
  return nearest(text, new RegExp(`(?<![\\w$])${escaped(other)}\\s*=\\s*${LITERAL}`, 'g'), at)?.[1];
}

const OPERAND = `(${LITERAL}|[\\w$]+(?:\\.[\\w$]+)*)`;
/** How the registering function names its version: `{ version: X }`, `api.version !== X`, `X !== api.version`. */
const MENTIONS = [
  `\\{\\s*["']?version["']?\\s*:\\s*${OPERAND}\\s*,?\\s*\\}`,
  `\\.version\\s*[!=]==\\s*${OPERAND}`,
  `${OPERAND}\\s*[!=]==\\s*[\\w$]+\\.version`,
];

/** The version that a bundle's code compares, near the position where it registers. */
export function versionInBundle(text: string, line: number, column: number): string | undefined {
  let at = 0;
  for (let left = line; left > 1; left--) at = text.indexOf('\n', at) + 1;
  at += column - 1;
  const from = Math.max(0, at - REACH);
  const around = text.slice(from, at + REACH);
  for (const mention of MENTIONS) {
    const [, operand, literal] = nearest(around, new RegExp(mention, 'g'), at - from) ?? [];
    if (operand === undefined) continue;
    const version = literal ?? definition(text, operand.slice(operand.lastIndexOf('.') + 1), at);
    if (version !== undefined) return version;
  }
  return undefined;
}

/** The version that the program would load. */
function installedVersion(): string | undefined {
  try {
    return packageVersion(createRequire(programPath() ?? join(process.cwd(), '/')).resolve(API));
  } catch {
    return undefined;
  }
}

function textVersion({ file, line, column }: Position): string | undefined {
  try {
    return versionInBundle(readFileSync(file, 'utf8'), line, column);
  } catch {
    return undefined;
  }
}

/**
 * The version of the copy that called what calls `above`; undefined if nothing says it.
 *
 * @param above the accessor of the global object that a registration calls.
 */
export function registeringVersion(above: (value: unknown) => void): string | undefined {
  try {
    const caller = callerOf(above);
    const version =
      caller === undefined
        ? installedVersion()
        : (packageVersion(caller.file) ?? textVersion(caller) ?? installedVersion());
    return version !== undefined && VERSION.test(version) ? version : undefined;
  } catch {
    return undefined;
  }
}
