// Builds dist/ from src/: a few CommonJS files, ESM files that re-export them, and declarations.
//
//   node scripts/build-package.mjs
//
// Both module systems use the CommonJS files, so a program that mixes them has one instance. Node's
// own modules come from process.getBuiltinModule, which works in whatever a bundler makes of this.

import { spawn } from 'node:child_process';
import { chmodSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, posix, relative } from 'node:path';
import { build, transform } from 'esbuild';
import { buildPage } from './build-page.mjs';
import {
  dist,
  exportName,
  faces,
  fileOf,
  importsOf,
  internals,
  modules,
  root,
  source,
} from './package-layout.mjs';

const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));

/** What the files of the package export to each other: for each module the names, or `*` for all. */
const exported = new Map();

function addExported(module, names) {
  if (!exported.has(module)) exported.set(module, new Set());
  for (const name of names) exported.get(module).add(name);
}

for (const module of [...faces, ...internals]) addExported(module, ['*']);
/** For each file the files that it requires when it is loaded. */
const needs = new Map();
for (const module of modules) {
  const file = fileOf(module);
  if (!needs.has(file)) needs.set(file, new Set());
  for (const { kind, imported, names } of importsOf(module)) {
    if (fileOf(imported) === file) continue;
    addExported(imported, names);
    if (kind === 'static') needs.get(file).add(fileOf(imported));
  }
}

function refuseCycles(file, path = []) {
  if (path.includes(file)) {
    throw new Error(`files of the package require each other: ${[...path, file].join(' -> ')}`);
  }
  for (const other of needs.get(file)) refuseCycles(other, [...path, file]);
}
for (const file of needs.keys()) refuseCycles(file);

/** How the files of the package are named in what esbuild prints, until `toCommonJs`. */
const MODULE = 'module:';

/** Leaves Node's modules and those of other files as imports, for `toCommonJs`. */
function packageFiles(file) {
  return {
    name: 'package-files',
    setup({ onResolve, onLoad }) {
      onResolve({ filter: /.*/ }, ({ path, resolveDir, kind }) => {
        // A module with a file of its own is its entry as it is.
        if (kind === 'entry-point' && faces.includes(file)) return { path: `${source}/${path}.ts` };
        if (kind === 'entry-point') return { path, namespace: 'file-of-package' };
        if (path.startsWith('node:')) return { path, external: true };
        const absolute = join(resolveDir, path).replace(/\.js$/, '');
        const module = relative(source, absolute).replaceAll('\\', '/');
        if (!modules.includes(module)) throw new Error(`${path} is no module of src/`);
        if (fileOf(module) !== file) return { path: `${MODULE}${module}`, external: true };
        if (kind === 'require-call') throw new Error(`${path} is late, and in the same file`);
        return { path: `${absolute}.ts` };
      });
      onLoad({ filter: /.*/, namespace: 'file-of-package' }, () => {
        const own = modules.filter((module) => fileOf(module) === file && exported.has(module));
        const lines = own.map((module) => {
          const wanted = exported.get(module);
          if (wanted.has('*') && mayChange(module))
            return `export * as ${exportName(module)} from './${module}.js';`;
          // For an object of them esbuild makes a function and a getter of each.
          const names = wanted.has('*') ? namesOf(module) : [...wanted];
          // Less than the whole module: the rest is left out, unless it is used within the file.
          const local = names.map((name) => `${name} as ${exportName(module)}_${name}`);
          const members = names.map((name) => `${name}: ${exportName(module)}_${name}`);
          return `import { ${local.join(', ')} } from './${module}.js';
export const ${exportName(module)} = { ${members.join(', ')} };`;
        });
        return { contents: lines.join('\n'), resolveDir: source };
      });
    },
  };
}

/** Whether a module exports what can change, what others declare, or what `namesOf` does not find. */
function mayChange(module) {
  const text = readFileSync(join(source, `${module}.ts`), 'utf8');
  return /^export (?!type|interface|(?:async )?(?:const|function\*?|class) \w)/m.test(text);
}

/** The values that a module exports by name. */
function namesOf(module) {
  const text = readFileSync(join(source, `${module}.ts`), 'utf8');
  const declaration = /^export (?:async )?(?:const|function\*?|class) (\w+)/gm;
  return [...text.matchAll(declaration)].map(([, name]) => name);
}

const IMPORT = /^import (?:(\{[^}]*\}|\* as \w+) from )?"([^"]+)";\n/gm;
const EXPORT = /^export \{\n([^}]*)\n\};\n/m;
const EXPORT_ALL = new RegExp(`^export \\* from "${MODULE}([^"]+)";\n`, 'gm');
const LATE_REQUIRE = new RegExp(`__require\\("${MODULE}([^"]+)"\\)`, 'g');
/** esbuild leaves the comments of properties and methods. */
const COMMENT = /^[ \t]*\/\*\*(?:[^*]|\*(?!\/))*\*\/[ \t]*\n/gm;
const REQUIRE_SHIM = /^var __require = [^]*?\n\}\);\n/m;

/** Turns what esbuild prints as an ES module, whose imports are all external, into CommonJS. */
function toCommonJs(text, file) {
  const requireFile = (other) => {
    const path = posix.relative(posix.dirname(file), `${other}.js`);
    return `require("${path.startsWith('.') ? path : `./${path}`}")`;
  };
  const moduleOf = (module, required) =>
    faces.includes(module) ? required : `${required}.${exportName(module)}`;
  const requireOf = (module) => moduleOf(module, requireFile(fileOf(module)));
  /** Each file is required once, however many of its modules are imported. */
  const required = new Map();
  const importOf = (module) => {
    const other = fileOf(module);
    const first = !required.has(other);
    if (first) required.set(other, `file_${exportName(other)}`);
    const declared = first ? `const ${required.get(other)} = ${requireFile(other)};\n` : '';
    return { declared, value: moduleOf(module, required.get(other)) };
  };
  let body = text
    .replaceAll(COMMENT, '')
    .replaceAll(IMPORT, (_, names, path) => {
      const builtin = path.startsWith('node:');
      const { declared, value } = builtin
        ? { declared: '', value: `process.getBuiltinModule("${path}")` }
        : importOf(path.slice(MODULE.length));
      if (names === undefined) return declared;
      const target = names.startsWith('*')
        ? names.slice('* as '.length)
        : names.replaceAll(' as ', ': ').replaceAll(/\s+/g, ' ');
      return `${declared}const ${target} = ${value};\n`;
    })
    .replaceAll(LATE_REQUIRE, (_, module) => requireOf(module))
    .replaceAll(/\b__require\("(node:\w+)"\)/g, 'require("$1")')
    // esbuild's helper would also export what a program has added to Object.prototype.
    .replaceAll('for (var name in all)', 'for (const name of Object.keys(all))');
  if (!/\b__require\(/.test(body.replace(REQUIRE_SHIM, ''))) body = body.replace(REQUIRE_SHIM, '');
  const names = [];
  body = body.replaceAll(EXPORT_ALL, (_, module) => {
    const all = namesOf(module);
    names.push(...all);
    return all.map((name) => `exports.${name} = ${requireOf(module)}.${name};\n`).join('');
  });
  body = body.replace(EXPORT, (_, list) => {
    const lines = list.split(',\n').map((each) => {
      const [, local, name = local] = /^\s*(\w+)(?: as (\w+))?$/.exec(each);
      names.push(name);
      return `exports.${name} = ${local};\n`;
    });
    return lines.join('');
  });
  if (/^(import|export) |\bimport\.meta\b|\b__require\b/m.test(body)) {
    throw new Error(`${file}.js would not be CommonJS`);
  }
  const [, shebang = '', rest] = /^(#!.*\n)?([^]*)$/.exec(body);
  return { code: `${shebang}'use strict';\n${rest}`, names };
}

/** What dist/ will hold: contents by name. */
const output = new Map([['package.json', '{ "type": "commonjs" }\n']]);

/** A start reads each character of its files. Lines stay; texts of several lines keep their file as it is. */
async function withoutIndentation(code) {
  const bare = code.replaceAll(/^[ \t]+/gm, '');
  const [before, after] = await Promise.all(
    [code, bare].map((each) => transform(each, { minifyWhitespace: true })),
  );
  return before.code === after.code ? bare : code;
}

async function buildFile(file) {
  const { outputFiles } = await build({
    entryPoints: [file],
    plugins: [packageFiles(file)],
    bundle: true,
    write: false,
    format: 'esm',
    platform: 'node',
    target: 'node20.19',
    // A character beyond Latin-1 doubles the memory of a file's text, and the time to read it.
    charset: 'ascii',
    // Less to read at the start. Tools that trace files know the lines of load-addon as they are.
    minifySyntax: file !== 'core/load-addon',
    logLevel: 'warning',
    define: { TRACEWRIGHT_VERSION: JSON.stringify(version) },
    tsconfigRaw: { compilerOptions: { target: 'ES2022', verbatimModuleSyntax: true } },
    absWorkingDir: root,
  });
  const { code, names } = toCommonJs(outputFiles[0].text, file);
  output.set(`${file}.js`, await withoutIndentation(code));
  if (faces.includes(file)) addFace(file, names);
}

/** Adds the ESM file of a module that `exports` names, and its declarations. */
function addFace(module, names) {
  // Nothing to import by name, and an ES module would only cost the start its time.
  if (names.length === 0) return;
  const name = `./${posix.basename(module)}.js`;
  const constants = names.map((each) => `export const ${each} = cjs.${each};\n`);
  output.set(`${module}.mjs`, `import cjs from '${name}';\n${constants.join('')}`);
  output.set(`${module}.d.mts`, `export * from '${name}';\n`);
}

/** Has the compiler write the declarations; what has not changed is not written again. `npm run check` looks for errors. */
function writeDeclarations() {
  const tsc = join(root, 'node_modules', 'typescript', 'bin', 'tsc');
  const child = spawn(process.execPath, [tsc, '-p', 'tsconfig.build.json'], {
    cwd: root,
    stdio: 'inherit',
  });
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('exit', resolve);
  });
}

/** Modules that a declaration names. */
const NAMED = /(?:from|import\()\s*['"](\.[^'"]+)\.js['"]/g;

/** Adds the declarations that a program can reach: those of what `exports` names, and what they import. */
function addDeclarations() {
  const directory = join(root, 'build', 'declarations');
  const reached = new Set(faces.filter((face) => face !== 'cli/main'));
  for (const module of reached) {
    const name = `${module}.d.ts`;
    const text = readFileSync(join(directory, name), 'utf8');
    output.set(name, text);
    for (const [, path] of text.matchAll(NAMED))
      reached.add(posix.join(posix.dirname(module), path));
  }
}

const declared = writeDeclarations();
await Promise.all([...needs.keys()].map(buildFile));
for (const [name, text] of await buildPage()) output.set(`page/${name}`, text);
// Imported to find out where Node reads ES modules.
output.set('node/empty.mjs', 'export {};\n');
if ((await declared) !== 0) process.exit(1);
addDeclarations();
rmSync(dist, { recursive: true, force: true });
for (const [name, text] of output) {
  const path = join(dist, name);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}
chmodSync(join(dist, 'cli', 'main.js'), 0o755);
