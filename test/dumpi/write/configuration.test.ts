import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import {
  checkConfiguration,
  loadConfiguration,
  parseConfiguration,
} from '../../../src/dumpi/write/configuration.js';

const folder = mkdtempSync(join(tmpdir(), 'tracewright-dumpi-conf-'));
const here = process.cwd();
afterEach(() => {
  Reflect.deleteProperty(process.env, 'DUMPI_CONF');
  process.chdir(here);
});
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

describe('dumpi.conf', () => {
  it('is read as libdumpi reads it', () => {
    expect(
      parseConfiguration(
        [
          '# a comment',
          'fileroot = traces/run   # another',
          'fileroot=other',
          '\ttimestamp\twall',
          'timestamp full',
          'statuses=success',
          'MPI_Default disable',
          'MPI_Send   enable',
          'MPI_Send disable',
          'MPI_Iprobe success trailing words',
          'PAPI PAPI_TOT_CYC',
          'PAPI_EVENT PAPI_FP_OPS',
          'tracing disable',
          'tracing enter',
          'debug all',
          'MPI_Unknown enable',
          'timestamp',
          '',
        ].join('\n'),
      ),
    ).toEqual({
      fileRoot: 'traces/run',
      timestamps: 'wall',
      statuses: 'success',
      otherCalls: 'disable',
      calls: { MPI_Send: 'enable', MPI_Iprobe: 'success' },
      counters: ['PAPI_TOT_CYC', 'PAPI_FP_OPS'],
      functionEnter: true,
      functionExit: false,
    });
  });

  it('has the defaults of libdumpi', () => {
    expect(checkConfiguration({})).toEqual({
      fileRoot: 'dumpi',
      timestamps: 'full',
      statuses: 'enable',
      calls: new Map(),
      otherCalls: 'enable',
      functionEnter: true,
      functionExit: true,
      counters: [],
    });
  });

  it.each(['timestamp both', 'MPI_Send on', 'statuses maybe', 'tracing perhaps', 'MPI_Default x'])(
    'says where a value is wrong: %s',
    (line) => {
      expect(() => parseConfiguration(`\n${line}\n`, 'my.conf')).toThrow(
        expect.objectContaining({
          code: 'ERR_ARGUMENT_RANGE',
          field: `my.conf, line 2: ${line.split(' ')[0] ?? ''}`,
        }),
      );
    },
  );

  it.each([
    [{ timestamp: 'wall' }, 'config option', 'timestamp'],
    [{ calls: { MPI_Sent: 'enable' } }, 'config.calls', 'MPI_Sent'],
    [{ calls: 7 }, 'config.calls', 7],
  ])('names what nothing reads: %j', (options, field, value) => {
    expect(() => checkConfiguration(options as never)).toThrow(
      expect.objectContaining({ name: 'TracewrightError', field, value }),
    );
  });

  it('is the file of DUMPI_CONF, or of the working directory, or none', () => {
    const directory = mkdtempSync(join(folder, 'cwd-'));
    process.chdir(directory);
    expect(loadConfiguration().timestamps).toBe('full');
    writeFileSync('dumpi.conf', 'timestamp cpu\n');
    expect(loadConfiguration().timestamps).toBe('cpu');
    process.env['DUMPI_CONF'] = join(directory, 'missing.conf');
    expect(loadConfiguration().timestamps).toBe('cpu');
    process.env['DUMPI_CONF'] = join(directory, 'named.conf');
    writeFileSync('named.conf', 'timestamp none\n');
    expect(loadConfiguration().timestamps).toBe('none');
    expect(loadConfiguration('dumpi.conf').timestamps).toBe('cpu');
    expect(() => loadConfiguration('missing.conf')).toThrow('ENOENT');
  });

  it('that cannot be opened is passed over, and a directory says nothing, as for libdumpi', () => {
    const directory = mkdtempSync(join(folder, 'cwd-'));
    process.chdir(directory);
    writeFileSync('dumpi.conf', 'timestamp cpu\n');
    for (const unusable of ['dumpi.conf/below', '', 'x'.repeat(5000)]) {
      process.env['DUMPI_CONF'] = unusable;
      expect(loadConfiguration().timestamps).toBe('cpu');
    }
    process.env['DUMPI_CONF'] = directory;
    expect(loadConfiguration()).toEqual(checkConfiguration({}));
    Reflect.deleteProperty(process.env, 'DUMPI_CONF');
    rmSync('dumpi.conf');
    mkdirSync('dumpi.conf');
    expect(loadConfiguration()).toEqual(checkConfiguration({}));
    for (const path of ['dumpi.conf', 'missing']) {
      expect(() => loadConfiguration(path)).toThrow(
        expect.objectContaining({ code: 'ERR_SYSTEM', field: 'config' }),
      );
    }
  });
});
