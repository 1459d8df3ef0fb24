import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import { expect, it } from 'vitest';

const root = fileURLToPath(new URL('../..', import.meta.url));
const GUIDES = ['ovni', 'heph', 'dumpi', 'laplace'] as const;

/** The examples of a guide's section on reading, in one file each. */
function examplesOf(guide: string): string[] {
  const text = readFileSync(join(root, 'docs', 'formats', `${guide}.md`), 'utf8');
  const section = /^## Reading\n([\s\S]*?)(?=^## )/m.exec(text)?.[1] ?? '';
  return [...section.matchAll(/```[jt]s\n([\s\S]*?)```/g)].map(([, code]) => code!);
}

it('the examples of reading compile in strict TypeScript', () => {
  const files = new Map<string, string>();
  for (const guide of GUIDES) {
    const examples = examplesOf(guide);
    expect(examples.length, guide).toBeGreaterThan(0);
    examples.forEach((code, i) => files.set(join(root, `${guide}-${i}.mts`), code));
  }
  const options: ts.CompilerOptions = {
    strict: true,
    noUncheckedIndexedAccess: true,
    noEmit: true,
    skipLibCheck: true,
    target: ts.ScriptTarget.ES2023,
    module: ts.ModuleKind.NodeNext,
    moduleResolution: ts.ModuleResolutionKind.NodeNext,
    types: ['node'],
  };
  const host = ts.createCompilerHost(options);
  // eslint-disable-next-line @typescript-eslint/unbound-method -- they do not use `this`
  const { fileExists, getSourceFile, readFile } = host;
  host.fileExists = (path) => files.has(path) || fileExists(path);
  host.readFile = (path) => files.get(path) ?? readFile(path);
  host.getSourceFile = (path, version) => {
    const text = files.get(path);
    return text === undefined
      ? getSourceFile(path, version)
      : ts.createSourceFile(path, text, version);
  };
  const program = ts.createProgram([...files.keys()], options, host);
  const messages = ts.getPreEmitDiagnostics(program).map(({ file, messageText }) => {
    return `${file?.fileName ?? ''}: ${ts.flattenDiagnosticMessageText(messageText, '\n')}`;
  });
  expect(messages).toEqual([]);
}, 120_000);
