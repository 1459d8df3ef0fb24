import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { decodePacket } from '../../src/heph/read/reader.js';
import { readTraceDirectory } from '../../src/ovni/read/trace-directory.js';
import { temporaryDirectory, TracedProcess } from './traced-process.js';
import { faultsOf, hephFiles, requestsOf } from './written-traces.js';

const hello = [{ method: 'GET', path: '/', status: 200n }];

/** Serves one request and ends. */
async function serve(
  env: Record<string, string>,
  options: { cwd?: string; hook?: '-r' | '--import' | 'NODE_OPTIONS' } = {},
): Promise<{ service: TracedProcess; stderr: string }> {
  const service = new TracedProcess('service.mjs', { env, ...options });
  expect(await service.serve('/')).toBe('hello\n');
  service.kill('SIGTERM');
  const { signal, stderr } = await service.ended();
  expect(signal).toBe('SIGTERM');
  return { service, stderr };
}

describe('settings', () => {
  it.each(['--import', '-r', 'NODE_OPTIONS'] as const)(
    'by %s, nothing is printed when it is to be quiet',
    async (hook) => {
      const { service, stderr } = await serve({}, { hook });
      expect(stderr).toBe('');
      expect(faultsOf(service.directory)).toEqual([]);
      expect(requestsOf(service.directory)).toEqual(hello);
    },
  );

  it('that say nothing give both formats in a directory that is printed once', async () => {
    const cwd = temporaryDirectory();
    const { service, stderr } = await serve(
      { TRACEWRIGHT_DIR: '', TRACEWRIGHT_QUIET: '0' },
      { cwd },
    );
    const [name] = readdirSync(join(cwd, 'traces'));
    expect(name).toMatch(new RegExp(`^service-\\d{4}-\\d\\d-\\d\\dT[\\d-]+Z-${service.pid}$`));
    const directory = join(cwd, 'traces', name!);
    expect(stderr).toBe(`tracewright: service (${service.pid}) is traced in ${directory}\n`);
    expect(readdirSync(directory)).toEqual(['heph']);
    expect(hephFiles(directory)).toEqual([join(directory, 'heph', `service-${service.pid}.heph`)]);
    expect(faultsOf(directory)).toEqual([]);
    expect(requestsOf(directory)).toEqual(hello);
  });

  it.each(['ovni', 'heph'])('give %s alone', async (format) => {
    const { service } = await serve({ TRACEWRIGHT_FORMATS: format });
    expect(readdirSync(service.directory)).toEqual([format]);
    expect(faultsOf(service.directory)).toEqual([]);
  });

  it('give version 1, a loom and an application', async () => {
    const { service } = await serve({
      TRACEWRIGHT_FORMATS: 'ovni',
      TRACEWRIGHT_OVNI_VERSION: '1',
      TRACEWRIGHT_LOOM: 'rack.7',
      TRACEWRIGHT_APP: '42',
    });
    const { version, looms, streams } = readTraceDirectory(join(service.directory, 'ovni'));
    expect(version).toBe(1);
    expect(looms.map(({ name }) => name)).toEqual(['rack.7']);
    expect(streams[0]!.pid).toBe(service.pid);
    expect(looms[0]!.processes[0]!.metadata!.appId).toBe(42);
  });

  it('send Heph to a collector', async () => {
    const collector = createSocket('udp4').bind(0, '127.0.0.1');
    await once(collector, 'listening');
    const paths: unknown[] = [];
    collector.on('message', (datagram) => {
      for (let at = 0; at < datagram.length;) {
        const packet = decodePacket(datagram.subarray(at));
        if (packet.kind === 'event') {
          const path = packet.attributes.find(({ name }) => name === 'url.path');
          if (path !== undefined) {
            paths.push(path.value);
            collector.emit('event');
          }
        }
        at += packet.size;
      }
    });
    const arrived = once(collector, 'event');
    const { service } = await serve({
      TRACEWRIGHT_HEPH_TARGET: `udp://127.0.0.1:${collector.address().port}`,
    });
    await arrived;
    collector.close();
    expect(paths).toEqual(['/']);
    expect(readdirSync(join(service.directory, 'heph'))).toEqual([]);
  });

  it('never write over a trace', async () => {
    const directory = join(temporaryDirectory(), 'run');
    const file = join(temporaryDirectory(), 'own.heph');
    const env = {
      TRACEWRIGHT_FORMATS: 'heph,ovni',
      TRACEWRIGHT_DIR: directory,
      TRACEWRIGHT_HEPH_TARGET: file,
    };
    const { service: first } = await serve(env);
    const { service: second } = await serve(env);
    for (const place of [directory, `${directory}.1`]) expect(faultsOf(place)).toEqual([]);
    expect(readTraceDirectory(join(directory, 'ovni')).streams[0]!.pid).toBe(first.pid);
    expect(readTraceDirectory(join(`${directory}.1`, 'ovni')).streams[0]!.pid).toBe(second.pid);
    expect(existsSync(file)).toBe(true);
    expect(existsSync(file.replace('.heph', `-${second.pid}.heph`))).toBe(true);
  });
});

describe('the budget', () => {
  it('is of the traces of the hook, and not of those that the program opens', async () => {
    const directory = temporaryDirectory();
    const paths = ['main.heph', 'worker.heph'].map((name) => join(directory, name));
    const service = new TracedProcess('own-traces.mjs', {
      env: { TRACEWRIGHT_RING_BYTES: '65536', TRACEWRIGHT_MAX_BYTES: '524288' },
      args: paths,
    });
    expect(await service.ended()).toMatchObject({ code: 0, stderr: '' });
    expect(readdirSync(directory)).toEqual(['main.heph', 'worker.heph']);
    for (const path of paths) {
      expect(statSync(path).size).toBeGreaterThan(800_000);
    }
  });
});

describe('a setting that is wrong', () => {
  it.each([
    ['TRACEWRIGHT_FORMATS', 'ovni,dwarf', 'must be heph, ovni or heph,ovni, got "ovni,dwarf"'],
    ['TRACEWRIGHT_OVNI_VERSION', '2', 'must be 1 or 3, got "2"; 3 is used'],
    ['TRACEWRIGHT_STALL_STACKS', 'maybe', 'must be on or off, got "maybe"; on is used'],
    ['TRACEWRIGHT_APP', '0', 'must be an integer from 1 to 2147483647, got "0"; 1 is used'],
    ['TRACEWRIGHT_LOOM', 'a/b', "must be 1 to 200 bytes without '/', got"],
    ['TRACEWRIGHT_REQUEST_BYTES', 'never', 'must be on or off, got'],
    [
      'TRACEWRIGHT_PROFILE',
      'wall',
      'must be off, or of cpu, cpu:HZ (1 to 1000 a second) and heap, got "wall"; it counts as not set',
    ],
  ])('%s gets a warning and its default', async (variable, value, words) => {
    const { service, stderr } = await serve({ [variable]: value });
    expect(stderr).toContain(`TracewrightWarning: ${variable} ${words}`);
    expect(stderr.match(/.*Warning: .*/g)).toHaveLength(1);
    expect(faultsOf(service.directory)).toEqual([]);
    expect(requestsOf(service.directory)).toEqual(hello);
  });

  it('has a name that nothing reads', async () => {
    const { service, stderr } = await serve({
      TRACEWRIGHT_FROMATS: 'heph',
      TRACEWRIGHT_COLOUR_SCHEME: 'dark',
    });
    expect(stderr).toContain(
      'TRACEWRIGHT_FROMATS is an unknown variable; did you mean "TRACEWRIGHT_FORMATS"?\n',
    );
    expect(stderr).toContain('TRACEWRIGHT_COLOUR_SCHEME is an unknown variable\n');
    expect(stderr.match(/.*Warning: .*/g)).toHaveLength(2);
    expect(faultsOf(service.directory)).toEqual([]);
  });

  it('has a name that the page of options has, and is known', async () => {
    const page = readFileSync(join(import.meta.dirname, '../../docs/options.md'), 'utf8');
    const names = [...page.matchAll(/^\| `(TRACEWRIGHT_\w+)/gm)].map(([, name]) => name!);
    expect(names).toContain('TRACEWRIGHT_KEEP');
    const own = new Set(['TRACEWRIGHT_DIR', 'TRACEWRIGHT_FORMATS', 'TRACEWRIGHT_PREBUILD']);
    const unset = names.filter((name) => !own.has(name)).map((name) => [name, '']);
    const { stderr } = await serve(Object.fromEntries(unset) as Record<string, string>);
    expect(stderr).not.toContain('is an unknown variable');
  });

  it('leaves out only the format that it concerns', async () => {
    const { service, stderr } = await serve({
      TRACEWRIGHT_FORMATS: 'heph,ovni',
      TRACEWRIGHT_HEPH_TARGET: 'udp://nowhere',
    });
    expect(stderr).toContain('no Heph trace is written: target must be');
    expect(readdirSync(service.directory).sort()).toEqual(['heph', 'ovni']);
    expect(faultsOf(service.directory)).toEqual([]);
  });

  it.each(['RING_BYTES', 'MAX_BYTES', 'ROTATE_BYTES', 'OPEN_SPANS', 'STALL_MS'])(
    'is an amount, %s, and has its default, with one line',
    async (name) => {
      const { service, stderr } = await serve({ [`TRACEWRIGHT_${name}`]: 'many' });
      expect(stderr.match(/.*Warning: .*/g)).toEqual([
        expect.stringContaining(`TracewrightWarning: TRACEWRIGHT_${name} must be `),
      ]);
      expect(requestsOf(service.directory)).toEqual(hello);
    },
  );

  it('of the core leaves the service untraced', async () => {
    const { service, stderr } = await serve({ TRACEWRIGHT_ON_FULL: 'explode' });
    // Both formats have the same fault: it is reported once.
    expect(stderr.match(/TRACEWRIGHT_ON_FULL must be block or drop/g)).toHaveLength(1);
    expect(readdirSync(service.directory)).toEqual([]);
    await serve({ TRACEWRIGHT_DIR: service.directory });
    expect(requestsOf(service.directory)).toEqual(hello);
  });

  it('of the core leaves nothing in the place of traces', async () => {
    const cwd = temporaryDirectory();
    await serve({ TRACEWRIGHT_DIR: '', TRACEWRIGHT_ON_FULL: 'explode' }, { cwd });
    expect(readdirSync(join(cwd, 'traces'))).toEqual([]);
  });

  it('that names no directory leaves the service untraced', async () => {
    const place = temporaryDirectory();
    writeFileSync(join(place, 'file'), '');
    const { stderr } = await serve({ TRACEWRIGHT_DIR: join(place, 'file', 'run') });
    expect(stderr).toContain('this process is not traced: ');
    expect(stderr.match(/.*Warning: .*/g)).toHaveLength(1);
  });

  it('does not keep a service from an empty directory that is there', async () => {
    const place = join(temporaryDirectory(), 'there');
    mkdirSync(place);
    await serve({ TRACEWRIGHT_DIR: place });
    expect(faultsOf(place)).toEqual([]);
    expect(requestsOf(place)).toEqual(hello);
  });
});
