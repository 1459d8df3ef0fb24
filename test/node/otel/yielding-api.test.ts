import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import * as esbuild from 'esbuild';
import { afterEach, describe, expect, it } from 'vitest';
import type * as Api from '@opentelemetry/api';
import { registeringVersion, versionInBundle } from '../../../src/node/otel/registering-copy.js';
import { API_KEY } from '../../../src/node/otel/first-look.js';
import type { GlobalApi } from '../../../src/node/otel/first-look.js';
import { YieldingApi } from '../../../src/node/otel/yielding-api.js';
import type { Part } from '../../../src/node/otel/yielding-api.js';
import { temporaryDirectory } from '../traced-process.js';

type ApiModule = typeof Api;

const require = createRequire(import.meta.url);
const installed = join(dirname(require.resolve('@opentelemetry/api')), '..', '..');
const { version: installedVersion } = JSON.parse(
  readFileSync(join(installed, 'package.json'), 'utf8'),
) as { version: string };

/** The API as it is installed, under the number of another version: a package of its own. */
function copyOf(version: string): { file: string; load: () => ApiModule } {
  const place = join(temporaryDirectory(), 'node_modules', '@opentelemetry', 'api');
  mkdirSync(place, { recursive: true });
  cpSync(join(installed, 'build', 'src'), join(place, 'build', 'src'), { recursive: true });
  const manifest = readFileSync(join(installed, 'package.json'), 'utf8');
  writeFileSync(
    join(place, 'package.json'),
    manifest.replaceAll(`"version": "${installedVersion}"`, `"version": "${version}"`),
  );
  const versionFile = join(place, 'build', 'src', 'version.js');
  const text = readFileSync(versionFile, 'utf8').replace(installedVersion, version);
  writeFileSync(versionFile, text);
  const file = join(place, 'build', 'src', 'index.js');
  return { file, load: () => createRequire(file)(file) as ApiModule };
}

const ours = {
  trace: { getTracer: () => 'ours' },
  context: {
    active: () => 'ours',
    disable: () => undefined,
  },
  propagation: { fields: () => ['ours'] },
};
const theirs = {
  trace: { getTracer: () => 'theirs' },
  context: { active: () => 'theirs', disable: () => undefined },
  propagation: { fields: () => ['theirs'] },
};
/** Of the same package as ours. */
const joining = {
  trace: { getTracer: () => 'joining' },
  context: { active: () => 'joining', disable: () => undefined },
};
type Given<Name extends 'trace' | 'context' | 'propagation'> = Name extends 'trace'
  ? Api.TracerProvider
  : Name extends 'context'
    ? Api.ContextManager
    : Api.TextMapPropagator;
const registerTrace = (api: ApiModule) =>
  api.trace.setGlobalTracerProvider(theirs.trace as unknown as Given<'trace'>);
const registerContext = (api: ApiModule) =>
  api.context.setGlobalContextManager(theirs.context as unknown as Given<'context'>);
const registerPropagation = (api: ApiModule) =>
  api.propagation.setGlobalPropagator(theirs.propagation as unknown as Given<'propagation'>);

/** What answers a copy's look-ups. */
function seenBy(api: ApiModule): unknown[] {
  return [api.trace.getTracer('x'), api.context.active(), ...api.propagation.fields()];
}

interface Log {
  joined: Part[];
  replaced: Part[];
  refused: Part[];
  looked: number;
}

function begin(others: GlobalApi = {}, version = registeringVersion): Log {
  const log: Log = { joined: [], replaced: [], refused: [], looked: 0 };
  new YieldingApi(
    {
      parts() {
        log.looked++;
        return ours;
      },
      callerVersion: version,
      isOwn: (instance) => instance === joining.trace || instance === joining.context,
      joined: (part) => log.joined.push(part),
      replaced: (part) => log.replaced.push(part),
      refused: (part) => log.refused.push(part),
    },
    others,
  );
  return log;
}

afterEach(() => {
  Reflect.deleteProperty(globalThis, API_KEY);
});

describe('our place in the globals of the API', () => {
  it.each(['1.0.0', '1.9.0', '1.24.3'])('serves copies of version %s', (version) => {
    const log = begin();
    const api = copyOf(version).load();
    expect(log.looked).toBe(0);
    expect(seenBy(api)).toEqual(['ours', 'ours', 'ours']);
    expect(log).toMatchObject({ replaced: [], refused: [] });
  });

  it('keeps the other parts if a provider of this package is registered', () => {
    const log = begin();
    const api = copyOf('1.9.0').load();
    expect(seenBy(api)).toEqual(['ours', 'ours', 'ours']);
    const provider = joining.trace as unknown as Given<'trace'>;
    expect(api.trace.setGlobalTracerProvider(provider)).toBe(true);
    expect(seenBy(api)).toEqual(['joining', 'ours', 'ours']);
    const manager = joining.context as unknown as Given<'context'>;
    expect(api.context.setGlobalContextManager(manager)).toBe(true);
    expect(seenBy(api)).toEqual(['joining', 'joining', 'ours']);
    expect(log).toMatchObject({ joined: ['trace', 'context'], replaced: [], refused: [] });
    // As without the hook, what the program has registered first stays.
    expect(registerTrace(api)).toBe(false);
    expect(log).toMatchObject({ joined: ['trace', 'context'], replaced: [] });
  });

  it('knows the provider of a copy that gives it to its proxy before it registers', () => {
    const log = begin();
    const { trace: provider } = joining;
    const proxy = {
      _delegate: provider,
      getDelegate: () => provider,
      setDelegate: () => undefined,
    };
    (globalThis as unknown as Record<symbol, GlobalApi>)[API_KEY]!['trace'] = proxy;
    expect(log).toMatchObject({ joined: ['trace'], replaced: [] });
  });

  it.each([
    ['1.9.0', '1.9.0'],
    ['1.9.0', '1.2.0'],
    ['1.2.0', '1.9.0'],
  ])('goes to a copy of %s that registers, next to one of %s', (version, otherVersion) => {
    const log = begin();
    const other = copyOf(otherVersion).load();
    const api = copyOf(version).load();
    expect(seenBy(other)).toEqual(['ours', 'ours', 'ours']);
    expect(seenBy(api)).toEqual(['ours', 'ours', 'ours']);
    registerTrace(api);
    expect(registerPropagation(api)).toBe(true);
    expect(registerContext(api)).toBe(true);
    expect(seenBy(api)).toEqual(['theirs', 'theirs', 'theirs']);
    expect(log).toMatchObject({ replaced: ['trace'], refused: [] });
    expect(Object.getOwnPropertyDescriptor(globalThis, API_KEY)).toMatchObject({
      value: { version },
      writable: true,
    });
    // As without us: the older copies see it, the newer ones do not.
    const isOlder = otherVersion <= version;
    expect(seenBy(other)[1] === 'theirs').toBe(isOlder);
    expect(seenBy(other)).not.toContain('ours');
    // And a second one is refused.
    expect(registerContext(api)).toBe(false);
  });

  it('goes to a context manager that comes before the provider', () => {
    const log = begin();
    const api = copyOf('1.9.0').load();
    expect(registerContext(api)).toBe(true);
    expect(log.replaced).toEqual(['context']);
    expect(api.context.active()).toBe('theirs');
    expect(api.propagation.fields()).toEqual([]);
    registerTrace(api);
    expect(api.trace.getTracer('x')).toBe('theirs');
    expect(log.replaced).toEqual(['context']);
  });

  it('keeps the spans when only a propagator is registered', () => {
    const log = begin();
    const api = copyOf('1.9.0').load();
    expect(registerPropagation(api)).toBe(true);
    expect(seenBy(api)).toEqual(['ours', 'ours', 'theirs']);
    expect(log.replaced).toEqual(['propagation']);
    registerTrace(api);
    expect(api.propagation.fields()).toEqual(['theirs']);
    expect(log.replaced).toEqual(['propagation', 'trace']);
  });

  it('is not disturbed by loggers and meters', () => {
    const log = begin();
    const api = copyOf('1.9.0').load();
    const messages: unknown[] = [];
    const note = (message: unknown) => messages.push(message);
    const logger = { error: note, warn: note, info: note, debug: note, verbose: note };
    expect(api.diag.setLogger(logger)).toBe(true);
    expect(
      api.metrics.setGlobalMeterProvider({
        getMeter: () => 'theirs',
      } as unknown as Api.MeterProvider),
    ).toBe(true);
    expect(api.metrics.getMeter('x')).toBe('theirs');
    api.diag.error('through');
    expect(messages).toEqual(['through']);
    expect(seenBy(api)).toEqual(['ours', 'ours', 'ours']);
    expect(log).toMatchObject({ replaced: [], refused: [] });
  });

  it('keeps what was registered before it', () => {
    const diag = { error: () => undefined };
    begin({ version: '1.4.0', diag });
    expect((globalThis as { [API_KEY]?: GlobalApi })[API_KEY]).toMatchObject({ diag });
  });

  it('may be disabled, and goes to what comes then', () => {
    const log = begin();
    const api = copyOf('1.9.0').load();
    expect(seenBy(api)).toEqual(['ours', 'ours', 'ours']);
    api.trace.disable();
    api.context.disable();
    expect(seenBy(api).slice(0, 2)).not.toContain('ours');
    expect(log.replaced).toEqual([]);
    registerTrace(api);
    expect(registerContext(api)).toBe(true);
    expect(seenBy(api)).toEqual(['theirs', 'theirs']);
    expect(log.replaced).toEqual(['trace']);
  });

  it('says when a registration failed because its version is not known', () => {
    const log = begin({}, () => undefined);
    const api = copyOf('1.9.0').load();
    registerTrace(api);
    expect(seenBy(api)).toEqual(['ours', 'ours', 'ours']);
    expect(log).toMatchObject({ replaced: [], refused: ['trace'] });
  });

  it('goes to an object that replaces it', () => {
    const log = begin();
    (globalThis as { [API_KEY]?: unknown })[API_KEY] = { version: '1.9.0', trace: theirs.trace };
    expect(seenBy(copyOf('1.9.0').load()).slice(0, 1)).toEqual(['theirs']);
    expect(log.replaced).toEqual(['trace']);
  });
});

describe('the version of a copy within a bundle', () => {
  const program = `
    import { trace } from '@opentelemetry/api';
    const VERSION = '1.30.1';
    export const result = trace.setGlobalTracerProvider({ getTracer: () => VERSION }) !== false;
  `;

  it.each([
    ['as it is', {}],
    ['minified', { minify: true }],
    ['minified, for old Nodes', { minify: true, target: 'es2017' }],
  ])('is found: %s', async (_, options: esbuild.BuildOptions) => {
    const { file } = copyOf('1.7.9');
    const outfile = join(temporaryDirectory(), 'bundle.cjs');
    await esbuild.build({
      stdin: { contents: program, resolveDir: dirname(file) },
      alias: { '@opentelemetry/api': file },
      bundle: true,
      platform: 'node',
      format: 'cjs',
      outfile,
      ...options,
    });
    const log = begin();
    expect((createRequire(outfile)(outfile) as { result: boolean }).result).toBe(true);
    expect(log).toMatchObject({ replaced: ['trace'], refused: [] });
  });

  it.each([
    ['e.version!==r.VERSION', 't.VERSION="1.8.0"'],
    ['"1.8.0"!==e.version', ''],
    ['e.version!==r.q', 'd(t,{q:()=>n});const n="1.8.0"'],
    ['e.version===r.V', 'd(t,{V:function(){return n}});var n="1.8.0"'],
  ])('is found in %s', (comparison, definition) => {
    const text = `const VERSION="2.1.0";x="1.2.3";${definition};\nfunction r(t){const e=g[K]=g[K]??z();if(${comparison})return}`;
    expect(versionInBundle(text, 2, 21)).toBe('1.8.0');
  });

  it('is unknown where nothing says it', () => {
    expect(versionInBundle('const a = 1;\nf(x);', 2, 1)).toBeUndefined();
  });
});
