import { readdirSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { fileURLToPath } from 'node:url';
import { preProcessFile } from 'typescript';
import { expect, it } from 'vitest';

const source = fileURLToPath(new URL('../../src', import.meta.url));

/** What each file imports, types included; what a function requires late is not in it. */
type Imports = ReadonlyMap<string, readonly string[]>;

function importsOfSources(): Imports {
  const names = readdirSync(source, { recursive: true, encoding: 'utf8' });
  return new Map(
    names
      .filter((name) => name.endsWith('.ts'))
      .map((name) => {
        const { importedFiles } = preProcessFile(readFileSync(join(source, name), 'utf8'), true);
        const own = importedFiles.filter(({ fileName }) => fileName.startsWith('.'));
        return [
          name,
          own.map(({ fileName }) =>
            posix.join(posix.dirname(name), fileName).replace(/\.js$/, '.ts'),
          ),
        ];
      }),
  );
}

/** A circle of imports for every file that closes one. */
function circlesOf(imports: Imports): string[] {
  const circles: string[] = [];
  const done = new Set<string>();
  const path: string[] = [];
  const visit = (file: string): void => {
    const at = path.indexOf(file);
    if (at !== -1) circles.push([...path.slice(at), file].join(' -> '));
    if (at !== -1 || done.has(file)) return;
    path.push(file);
    imports.get(file)?.forEach(visit);
    path.pop();
    done.add(file);
  };
  [...imports.keys()].forEach(visit);
  return circles;
}

it('a circle of three files is found', () => {
  const imports = new Map([
    ['a.ts', ['b.ts', 'd.ts']],
    ['b.ts', ['c.ts']],
    ['c.ts', ['a.ts']],
    ['d.ts', []],
  ]);
  expect(circlesOf(imports)).toEqual(['a.ts -> b.ts -> c.ts -> a.ts']);
});

it('no file of src imports itself by way of others', () => {
  const imports = importsOfSources();
  expect(imports.get('cli/command-line.ts')).toContain('cli/commands/check.ts');
  expect(circlesOf(imports)).toEqual([]);
});
