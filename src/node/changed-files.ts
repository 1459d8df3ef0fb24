import { readFileSync } from 'node:fs';
import { shared } from '../core/process-state.js';
import { publishMethod } from '../libraries/engine/published-calls.js';
import type { FieldsOf } from '../libraries/engine/published-calls.js';
import { injectedChannel, injectionOf } from '../libraries/injected/injected-channel.js';
import type { ChangedText, InjectedFile } from '../libraries/injected/injected-file.js';
import { entryOf } from '../libraries/table.js';
import type { InjectedName } from '../libraries/table.js';
import { aliasedPackages } from './otel/program-dependencies.js';
import { reasonOf, warn } from './warning.js';

/** The object that a changed file finds in its process. */
const KEY = 'tracewright.channels';
const warned = shared('node.uninjected', () => new Set<string>());

/** Libraries of which a file was loaded where it could be changed. */
export const seenLibraries = new Set<InjectedName>();

/** Says once that a library, or a part of it, has another form than is known. */
function warnOf(library: string, directory: string, path: string, reason: string): void {
  if (warned.has(library)) return;
  warned.add(library);
  let version = '';
  try {
    const manifest = readFileSync(`${directory}package.json`, 'utf8');
    version = ` ${String((JSON.parse(manifest) as { version?: unknown }).version)}`;
  } catch {
    // None that can be read.
  }
  warn(`${library}${version} is not traced: ${path}: ${reason}`);
}

/** Called by a changed text. It warns, and throws nothing. */
const forChangedFiles = {
  channel: injectedChannel,
  method(
    library: string,
    file: readonly [directory: string, path: string],
    channel: string,
    owner: () => object,
    names: readonly string[],
    fieldsOf?: FieldsOf,
  ): void {
    try {
      publishMethod(channel, owner(), names, fieldsOf);
    } catch (error) {
      warnOf(library, ...file, reasonOf(error));
    }
  },
};

function patternOf(text: string | RegExp): RegExp {
  if (typeof text !== 'string') return new RegExp(text, 'g');
  const literal = text.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&').replaceAll(' ', '\\s*');
  return new RegExp(`(?<![\\w$.])${literal}`, 'g');
}

/** Changes what is found exactly once. */
function replaced(
  content: string,
  { from, to, isOptional = false }: ChangedText,
  channel: string,
): string {
  const found = [...content.matchAll(patternOf(from))];
  if (isOptional && found.length === 0) return content;
  if (found.length !== 1) throw new TypeError(`it has "${String(from)}" ${found.length} times`);
  const [{ index, 0: match, 1: group = '' }] = found as [RegExpExecArray];
  const text = to
    .replaceAll('$channel', channel)
    .replaceAll('$1', group)
    .replaceAll('$match', match);
  return content.slice(0, index) + text + content.slice(index + match.length);
}

/** The changes of a file of a library that is not recorded. */
function routesOnly({ texts = [], ...file }: InjectedFile): InjectedFile {
  return { ...file, methods: [], texts: texts.filter(({ isOfRoutes }) => isOfRoutes === true) };
}

/** The file with its changes. What it declares follows the last line, so that no line moves. */
function change(
  content: string,
  library: string,
  directory: string,
  path: string,
  { methods = [], texts = [] }: InjectedFile,
): string {
  const object = '$tracewright_channels';
  const lines = [`var ${object} = globalThis.process[Symbol.for(${JSON.stringify(KEY)})]`];
  let changed = content;
  texts.forEach((text, index) => {
    const channel = `$tracewright_${index}`;
    const values = [library, text.channel].map((value) => JSON.stringify(value));
    changed = replaced(changed, text, channel);
    lines.push(`${channel} = ${object}.channel(${values.join()})`);
  });
  const calls = methods.map(({ channel, owner, names, fields = 'undefined' }) => {
    const values = [library, [directory, path], channel].map((value) => JSON.stringify(value));
    return `${object}.method(${values.join()}, () => ${owner}, ${JSON.stringify(names)}, ${fields});`;
  });
  return `${changed}\n;${lines.join()};${calls.join('')}\n`;
}

/**
 * A file as it is to be compiled: as it is, with a warning, if it cannot be changed.
 *
 * @param found the file's path, the directory of its package, the name of that in `node_modules`, and the path in it.
 * @param routers libraries that report the routes of requests alone.
 */
export function changedFile(
  names: readonly InjectedName[],
  content: string,
  [, directory = '', found = '', given = '']: readonly string[],
  routers: readonly InjectedName[] = [],
): string {
  const name = found.replaceAll('\\', '/');
  const packageName = aliasedPackages().get(name) ?? name;
  const path = given.replaceAll('\\', '/');
  for (const library of [...names, ...routers]) {
    if (!entryOf(library).packages!.includes(packageName)) continue;
    const isRouter = routers.includes(library);
    for (const file of injectionOf(library).files) {
      if (file.package !== packageName || !file.path.test(path)) continue;
      if (file.only?.test(content) === false) continue;
      seenLibraries.add(library);
      if (content.includes(KEY) || file.unless?.test(content) === true) return content;
      Object.defineProperty(process, Symbol.for(KEY), {
        value: forChangedFiles,
        configurable: true,
      });
      try {
        if (file.reason !== undefined) throw new Error(file.reason);
        return change(content, library, directory, path, isRouter ? routesOnly(file) : file);
      } catch (error) {
        warnOf(library, directory, path, reasonOf(error));
        return content;
      }
    }
  }
  return content;
}
