// Checks the types of all TypeScript, then runs ESLint on everything. Both use the same programs of the
// compiler: apart, each would parse and check every file.
//
//   node scripts/check-code.mjs

import { join } from 'node:path';
import { ESLint } from 'eslint';
import ts from 'typescript';
import { root } from './package-layout.mjs';

const PROJECTS = ['tsconfig.json', 'src/page/tsconfig.json', 'test/page/tsconfig.json'];

const formatHost = {
  getCurrentDirectory: () => root,
  getCanonicalFileName: (name) => name,
  getNewLine: () => '\n',
};

/** Prints what the compiler found, if anything. */
function report(diagnostics) {
  if (diagnostics.length === 0) return;
  process.stdout.write(ts.formatDiagnostics(diagnostics, formatHost));
  process.exitCode = 1;
}

function programOf(project) {
  const host = { ...ts.sys, onUnRecoverableConfigFileDiagnostic: (found) => report([found]) };
  const config = ts.getParsedCommandLineOfConfigFile(join(root, project), {}, host);
  if (config === undefined) process.exit(1);
  const { fileNames, options, errors } = config;
  // ESLint looks at the parents of nodes.
  const compilerHost = ts.createCompilerHost(options, true);
  return ts.createProgram({
    rootNames: fileNames,
    options,
    host: compilerHost,
    configFileParsingDiagnostics: errors,
  });
}

const programs = PROJECTS.map(programOf);
report(
  ts.sortAndDeduplicateDiagnostics(programs.flatMap((each) => ts.getPreEmitDiagnostics(each))),
);

const eslint = new ESLint({
  cwd: root,
  overrideConfig: {
    files: ['**/*.{ts,tsx}'],
    languageOptions: { parserOptions: { projectService: false, programs } },
  },
});
const results = await eslint.lintFiles(['.']);
process.stdout.write((await eslint.loadFormatter('stylish')).format(results));
if (results.some(({ errorCount }) => errorCount > 0)) process.exitCode = 1;
