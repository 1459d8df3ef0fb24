import { execFileSync } from 'node:child_process';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { dirname, join } from 'node:path';
import { transformSync } from 'esbuild';
import { describe, expect, it } from 'vitest';
import { CompiledPrograms } from '../../../src/look/index/serve/compiled-programs.js';
import type { OriginalCode } from '../../../src/spans/read/span-source.js';
import { temporaryDirectory } from '../../node/traced-process.js';

const app = temporaryDirectory();
const command = join(app, 'main.js');
const later = BigInt(Date.now() + 3_600_000) * 1_000_000n;

function programOf(of = command, host = hostname(), epoch = later): OriginalCode | undefined {
  const resource = { schemaUrl: '', attributes: { 'process.command': of } };
  return new CompiledPrograms().of({ host, epoch, lived: undefined }, resource);
}

const { code, map } = transformSync('type A = 1;\n\nexport function f(): void {\n  g();\n}\n', {
  loader: 'ts',
  sourcemap: true,
  sourcefile: 'f.ts',
});
const good = JSON.parse(map) as { sources: unknown; mappings: unknown };

/** Writes a script, and its map in a file next to it. */
function write(name: string, written: unknown, url = `${name.replace(/.*\//, '')}.map`): string {
  const script = join(app, name);
  mkdirSync(dirname(script), { recursive: true });
  writeFileSync(script, `${code}//# sourceMappingURL=${url}\n`);
  const text = typeof written === 'string' ? written : JSON.stringify(written);
  if (!url.startsWith('data:')) writeFileSync(`${script}.map`, text);
  return script;
}

/** What a frame of a script says: line 2 of it is `g()`. */
function frameOf(script: string, program = programOf()): string {
  return program!.stack(`Error: no\n    at f (${script}:2:3)`).split('\n')[1]!.trim();
}

const FOUND = `at f (${join(app, 'f.ts')}:4:3)`;
const inline = (text: string) =>
  `data:application/json;base64,${Buffer.from(text).toString('base64')}`;

describe('a frame of a compiled script', () => {
  it('is that of its source', () => {
    expect(frameOf(write('good.js', good))).toBe(FOUND);
    expect(frameOf(`file://${write('good.js', good)}`)).toBe(FOUND);
    expect(frameOf(write('inline.js', '', inline(map)))).toBe(FOUND);
    const sections = [{ offset: { line: 0, column: 0 }, map: good }];
    expect(frameOf(write('sections.js', { version: 3, sections }))).toBe(FOUND);
    const url = { ...good, sourceRoot: 'webpack://shop/', sources: ['./f.ts'] };
    expect(frameOf(write('root.js', url))).toBe('at f (webpack://shop//./f.ts:4:3)');
  });

  it('stays where the map is none, or hostile', () => {
    const maps: [string, unknown][] = [
      ['nothing', ''],
      ['no-json', '{'],
      ['null', 'null'],
      ['deep', '['.repeat(1e6)],
      ['endless', { ...good, sources: { length: 1e15 } }],
      ['objects', { ...good, sources: [{ toString: 'f.ts' }] }],
      ['no-mappings', { ...good, mappings: { length: 1e15 } }],
      ['bad-mappings', { ...good, mappings: '!"§$%&/()=?'.repeat(1000) }],
      ['outside', { ...good, mappings: ';'.repeat(100) }],
      ['no-source', { ...good, sources: [null] }],
      ['lines', { ...good, sources: ['f.ts\n    at evil (/etc/passwd:1:1)'] }],
      ['terminal', { ...good, sources: ['\u001b[2Jf.ts'] }],
      ['file-url', { ...good, sources: ['file:///a%0Ab.ts'] }],
      ['host-url', { ...good, sources: ['file://host/a.ts'] }],
      ['long', { ...good, sources: ['x'.repeat(1e6)] }],
      ['large', { ...good, mappings: 'AAAA,'.repeat(2e6) }],
      ['text-offset', { version: 3, sections: [{ offset: { line: '0', column: 0 }, map: good }] }],
      ['no-map', { version: 3, sections: [{ offset: { line: 0, column: 0 } }] }],
      ['negative', { ...good, mappings: 'AADF;D' }],
    ];
    for (const [name, hostile] of maps) {
      const script = write(`${name}.js`, hostile);
      expect(frameOf(script), name).toBe(`at f (${script}:2:3)`);
    }
  });

  it('stays where script or map lie elsewhere', () => {
    const outside = temporaryDirectory();
    writeFileSync(join(outside, 'x.map'), map);
    const linked = join(app, 'linked.js');
    writeFileSync(join(outside, 'x.js'), `${code}//# sourceMappingURL=x.js.map\n`);
    symlinkSync(join(outside, 'x.js'), linked);
    const pipe = join(app, 'pipe.js');
    execFileSync('mkfifo', [pipe]);
    const scripts = [
      write('up.js', good, `../${outside.replace(/.*\//, '')}/x.map`),
      write('absolute.js', good, join(outside, 'x.map')),
      write('url.js', good, 'http://localhost:1/x.map'),
      write('pipe-map.js', good, 'pipe.js'),
      write('node_modules/a/index.js', good),
      join(outside, 'x.js'),
      join(app, 'absent.js'),
      linked,
      pipe,
    ];
    for (const script of scripts) expect(frameOf(script)).toBe(`at f (${script}:2:3)`);
  });

  it('stays in a recording of another host, or from before the script', () => {
    const script = write('good.js', good);
    expect(programOf(command, 'elsewhere')).toBeUndefined();
    expect(programOf('main.js')).toBeUndefined();
    expect(programOf('/absent/main.js')).toBeUndefined();
    const earlier = programOf(command, hostname(), later - 7_200_000_000_000n);
    expect(frameOf(script, earlier)).toBe(`at f (${script}:2:3)`);
    expect(frameOf(script)).toBe(FOUND);
  });

  it('is found for a bounded number of scripts', () => {
    const program = programOf();
    for (let i = 0; i < 500; i++) frameOf(`/absent/${i}.js`, program);
    const script = write('good.js', good);
    expect(frameOf(script, program)).toBe(`at f (${script}:2:3)`);
    expect(frameOf(script)).toBe(FOUND);
  });
});
