import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { temporaryDirectory } from '../heph/temporary-file.js';

const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
const directory = temporaryDirectory();

/** A package that has a copy of the API of its own, with another version; from 1.10 on its files have other names. */
function packageWithApi(name: string, version: string): void {
  const place = join(directory, 'node_modules', name);
  const api = join(place, 'node_modules', '@opentelemetry', 'api');
  mkdirSync(api, { recursive: true });
  cpSync(join(root, 'node_modules', '@opentelemetry', 'api'), api, { recursive: true });
  writeFileSync(
    join(api, 'build', 'src', 'version.js'),
    `'use strict';\nexports.VERSION = '${version}';\n`,
  );
  if (Number(version.split('.')[1]) >= 10) {
    renameSync(join(api, 'build', 'src'), join(api, 'dist'));
    for (const file of ['index', 'version']) {
      renameSync(join(api, 'dist', `${file}.js`), join(api, 'dist', `${file}.cjs`));
    }
    writeFileSync(join(api, 'dist', 'version.js'), "module.exports = require('./version.cjs');\n");
    writeFileSync(
      join(api, 'package.json'),
      JSON.stringify({ name: '@opentelemetry/api', version, main: 'dist/index.cjs' }),
    );
  }
  writeFileSync(join(place, 'package.json'), JSON.stringify({ name, main: 'index.js' }));
  writeFileSync(join(place, 'index.js'), "module.exports = require('@opentelemetry/api');\n");
}

/** What a program prints, as JSON, that has `tracewright` and packages with copies of the API. */
function run(program: string): unknown {
  const file = join(directory, 'program.cjs');
  const names = ['tracewright/spans', 'tracewright/otel'].map((name) =>
    JSON.stringify(join(root, 'dist', name.split('/')[1]!, 'index.js')),
  );
  writeFileSync(
    file,
    `const spans = require(${names[0]!});
const otel = require(${names[1]!});
const path = require('node:path').join(__dirname, process.pid + '.heph');
const read = async () => {
  await spans.shutdown();
  const all = [];
  for await (const each of spans.readSpans(path)) all.push(each);
  return all;
};
const warnings = [];
process.emitWarning = (message) => warnings.push(message);
(async () => {
${program}
})().then((result) => console.log(JSON.stringify(result)));
`,
  );
  return JSON.parse(execFileSync(process.execPath, [file], { cwd: directory, encoding: 'utf8' }));
}

test('without the API, register says what to install', () => {
  const error = run(
    `try { otel.register(); } catch (error) { return [error.code, error.message]; }`,
  );
  expect(error).toEqual([
    'ERR_DEPENDENCY',
    expect.stringContaining('npm install @opentelemetry/api'),
  ]);
});

test('copies of different versions record, whichever the program has', () => {
  packageWithApi('older', '1.4.1');
  packageWithApi('newer', '1.9.0');
  packageWithApi('newest', '1.10.0');
  for (const [first, second] of [
    ['older', 'newer'],
    ['newer', 'older'],
    ['older', 'newest'],
    ['newest', 'newer'],
  ]) {
    const result = run(`
const first = require('${first!}');
const second = require('${second!}');
const early = [first, second].map((api) => api.trace.getTracer('early'));
spans.configure({ target: path });
otel.register({ api: first });
const same = [];
first.trace.getTracer('first').startActiveSpan('a', (a) => {
  same.push(second.trace.getActiveSpan() === a, spans.activeSpan() === a);
  second.trace.getTracer('second').startActiveSpan('b', (b) => {
    same.push(first.trace.getActiveSpan() === b);
    const headers = {};
    second.propagation.inject(second.context.active(), headers);
    same.push(headers.traceparent.includes(b.spanContext().spanId));
    for (const tracer of early) tracer.startSpan('early').end();
    b.end();
  });
  a.end();
});
same.push(first.context.active() === first.ROOT_CONTEXT || first.context.active() === second.ROOT_CONTEXT);
return { same, spans: (await read()).map(({ name, scope }) => [name, scope.name]), warnings };`);
    expect(result).toEqual({
      same: [true, true, true, true, true],
      spans: [
        ['early', 'early'],
        ['early', 'early'],
        ['b', 'second'],
        ['a', 'first'],
      ],
      warnings: [],
    });
  }
});

test('what somebody else has registered stays, with a warning', () => {
  packageWithApi('api', '1.9.0');
  const result = run(`
const api = require('api');
const names = [];
api.trace.setGlobalTracerProvider({
  getTracer: () => ({ startSpan: (name) => { names.push(name); return api.trace.wrapSpanContext({}); } }),
});
spans.configure({ target: path });
otel.register({ api });
api.trace.getTracer('x').startSpan('theirs');
return { names, warnings };`);
  expect(result).toEqual({
    names: ['theirs'],
    warnings: [expect.stringContaining('another tracer provider')],
  });
});

test('register twice keeps one provider, and the second call changes what it names', () => {
  packageWithApi('api', '1.9.0');
  const result = run(`
const api = require('api');
spans.configure({ target: path });
const first = otel.register({ api });
const second = otel.register({ sampler: { shouldSample: () => ({ decision: 0 }) } });
api.trace.getTracer('x').startSpan('dropped').end();
await second.forceFlush();
return { same: first.provider === second.provider, spans: (await read()).length, warnings };`);
  expect(result).toEqual({ same: true, spans: 0, warnings: [] });
});

test('after shutdown spans are in the file, and later ones break nothing', () => {
  packageWithApi('api', '1.9.0');
  const result = run(`
const api = require('api');
spans.configure({ target: path });
const { shutdown } = otel.register({ api });
const tracer = api.trace.getTracer('x');
tracer.startSpan('before').end();
await shutdown();
const late = tracer.startSpan('late');
late.setAttribute('a', 1).end();
await shutdown();
return { recording: late.isRecording(), names: (await read()).map(({ name }) => name) };`);
  expect(result).toEqual({ recording: false, names: ['before'] });
});
