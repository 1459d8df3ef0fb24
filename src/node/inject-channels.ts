import { existsSync, statSync } from 'node:fs';
import { pathIn } from '../core/files/path-in.js';
import { programPath } from '../core/program-path.js';
import * as nodeModule from 'node:module';
import { dirname, resolve } from 'node:path';
import { entryOf, LEAST_BUNDLE } from '../libraries/table.js';
import type { InjectedName } from '../libraries/table.js';
import { noteCompiled } from './compiled-scripts.js';
import { aliasedPackages, ancestors, readManifest } from './otel/program-dependencies.js';

type Compile = (content: unknown, filename: unknown, ...further: unknown[]) => unknown;

/** Of Node's class of CommonJS modules. */
interface ModuleClass {
  Module: { prototype: { _compile: Compile } };
}

const MOST_BUNDLE = 1 << 26;
/** The same of a file of a package, which is seldom one. */
const LEAST_OF_PACKAGE = 1 << 20;
/** Until then a service has started. */
const LATER_MS = 1000;

/** The packages of libraries, and other names under which the program has installed them. */
function packagesOf(names: readonly InjectedName[]): string[] {
  const packages = names.flatMap((name) => entryOf(name).packages!);
  const aliases = [...aliasedPackages()].filter(([, own]) => packages.includes(own));
  return [...packages, ...aliases.map(([name]) => name)];
}

/** A file of a package: its directory, the package's name, and the path in it. */
function filesOf(names: readonly InjectedName[]): RegExp {
  const packages = packagesOf(names).join('|').replaceAll('/', '[\\\\/]');
  return new RegExp(`^(.*[\\\\/]node_modules[\\\\/](${packages})[\\\\/])(.+)$`);
}

/**
 * Puts tracing channels into libraries that have none, as this thread loads them. Nothing is loaded before such a
 * library is.
 *
 * @param names libraries that are recorded.
 * @param routers libraries that report the routes of requests alone.
 */
export function injectChannels(
  names: readonly InjectedName[],
  routers: readonly InjectedName[],
): void {
  const files = filesOf([...names, ...routers]);
  const warns = names.length > 0;
  const { prototype } = (nodeModule as unknown as ModuleClass).Module;
  const { _compile: compile } = prototype;
  prototype._compile = function (content, filename, ...further) {
    const found = typeof content === 'string' ? files.exec(String(filename)) : null;
    if (found === null) {
      if (typeof content === 'string') noteCompiled(String(filename), content);
      if (warns && typeof content === 'string' && content.length >= LEAST_BUNDLE) {
        checkBundle(names, content, String(filename));
      }
      return compile.call(this, content, filename, ...further);
    }
    const text = changedText(names, routers, content as string, found);
    return compile.call(this, text, filename, ...further);
  };
  if (warns) checkProgram(names, process.argv[1] ?? '');
  // Hooks make each module that is loaded a little slower.
  const directories = packageDirectories();
  const modules = names.filter(
    (name) =>
      entryOf(name).isOfModules === true &&
      packagesOf([name]).some((each) => isOfModules(each, directories)),
  );
  if (modules.length === 0) return;
  const { injectEsModules } =
    require('./es-module-injection.js') as typeof import('./es-module-injection.js');
  injectEsModules(modules, filesOf(modules));
}

/** Where the packages of the program may lie, and those of the directory that it runs in. */
function packageDirectories(): string[] {
  const program = programPath();
  const starts = [process.cwd(), ...(program === undefined ? [] : [dirname(resolve(program))])];
  const all = new Set(starts.flatMap((start) => [...ancestors(start)]));
  return [...all].map((each) => pathIn(each, 'node_modules')).filter((each) => existsSync(each));
}

/** Whether there is a package, and as ES modules. */
function isOfModules(name: string, directories: readonly string[]): boolean {
  return directories.some((each) => {
    const manifest = readManifest(pathIn(each, name));
    return manifest?.type === 'module' || manifest?.module !== undefined;
  });
}

function checkBundle(names: readonly InjectedName[], content: string, path: string): void {
  const load = (): typeof import('./bundled-libraries.js') =>
    require('./bundled-libraries.js') as typeof import('./bundled-libraries.js');
  if (!/[\\/]node_modules[\\/]/.test(path)) {
    load().warnOfBundled(names, content, path);
  } else if (content.length >= LEAST_OF_PACKAGE) {
    setTimeout(() => {
      load()
        .warnOfBundledPackage(names, path)
        .catch(() => undefined);
    }, LATER_MS).unref();
  }
}

/** A program of ES modules is not compiled where it could be seen. It is looked at later. */
function checkProgram(names: readonly InjectedName[], path: string): void {
  if (path === '' || /[\\/]node_modules[\\/]/.test(path)) return;
  let file = path;
  let stats = statSync(file, { throwIfNoEntry: false });
  if (stats?.isDirectory() === true) {
    file = pathIn(file, 'index.js');
    stats = statSync(file, { throwIfNoEntry: false });
  }
  if (!/\.m?js$/.test(file) || stats === undefined || stats.size > MOST_BUNDLE) return;
  // Its files are compiled where they are seen.
  const { programFormat } = require('./program-format.js') as typeof import('./program-format.js');
  if (stats.size < LEAST_BUNDLE && programFormat() === 'commonjs') return;
  setImmediate(() => {
    const { warnOfBundledProgram } =
      require('./bundled-libraries.js') as typeof import('./bundled-libraries.js');
    warnOfBundledProgram(names, file);
  });
}

function changedText(
  names: readonly InjectedName[],
  routers: readonly InjectedName[],
  content: string,
  found: string[],
): string {
  const { changedFile } = require('./changed-files.js') as typeof import('./changed-files.js');
  return changedFile(names, content, found, routers);
}
