import { describe, expect, it } from 'vitest';
import {
  fileOfProcess,
  fileOfRing,
  hasPredecessors,
  nameOfTrace,
  pidOfFile,
  pieceNames,
  piecesAmong,
  ringPath,
} from '../../src/heph/file-names.js';

describe('the file of a process of a run', () => {
  it.each([
    ['heph/api.heph', 1, 'heph/api-4711.heph'],
    ['heph/api-5.heph', 1, 'heph/api-5-4711.heph'],
    ['heph/api.heph', 2, 'heph/api-4711-2.heph'],
    ['heph/api-5.heph', 12, 'heph/api-5-4711-12.heph'],
  ])('for %s, number %i', (path, number, expected) => {
    const file = fileOfProcess(path, 4711, number);
    expect(file).toBe(expected);
    expect(pidOfFile(file)).toBe(4711);
    expect(pidOfFile(file.replace('.heph', '.000003.heph'))).toBe(4711);
  });

  it.each(['api.heph', 'api-4711', 'api-4711.bin', 'api-x.heph'])('%s names none', (name) => {
    expect(pidOfFile(name)).toBeUndefined();
  });
});

describe('names of pieces', () => {
  it.each([
    ['/run/trace.heph', undefined, '/run/trace.000007.heph', '/run/.trace.000007.heph.1-2-3.ring'],
    ['/run/trace.heph', '/rings', '/run/trace.000007.heph', '/rings/.trace.000007.heph.1-2-3.ring'],
    ['/run/trace', undefined, '/run/trace.000007', '/run/.trace.000007.1-2-3.ring'],
    ['/run/.trace', undefined, '/run/.trace.000007', '/run/..trace.000007.1-2-3.ring'],
  ])('of %s with rings in %s', (path, ringDir, file, ring) => {
    const names = pieceNames(path, ringDir);
    const number = '7'.padStart(names.digits, '0');
    expect(names.before + number + names.after).toBe(file);
    const whole = ringPath(path, ringDir, '1-2-3');
    expect(whole.startsWith(names.rings)).toBe(true);
    const rest = whole.slice(names.rings.length);
    expect(names.ringsBefore + number + names.ringsAfter + rest).toBe(ring);
    expect(piecesAmong([file], path)).toEqual([file]);
  });
});

describe('rings', () => {
  it.each([
    ['/run/trace.heph', undefined, '/run/.trace.heph.12-34-56.ring'],
    ['/run/trace.heph', '/rings', '/rings/.trace.heph.12-34-56.ring'],
    ['/run/.1-2-3.ring', undefined, '/run/..1-2-3.ring.12-34-56.ring'],
  ])('of %s in %s', (path, ringDir, expected) => {
    const ring = ringPath(path, ringDir, '12-34-56');
    expect(ring).toBe(expected);
    if (ringDir === undefined) expect(fileOfRing(ring)).toBe(path);
  });

  it.each([
    'trace.heph',
    '.trace.heph.ring',
    'trace.heph.1-2-3.ring',
    '.1-2-3.ring',
    '.a.1-2.ring',
  ])('%s is none', (name) => {
    expect(fileOfRing(name)).toBeUndefined();
  });
});

describe('pieces', () => {
  it.each([
    ['trace.000001.heph', 'trace.heph', false],
    ['/run/trace.000002.heph', 'trace.heph', true],
    ['trace.1234567.heph', 'trace.heph', true],
    ['trace.000002', 'trace', true],
    ['.hidden.000002', '.hidden', true],
    ['a.000003.000002.heph', 'a.000003.heph', true],
    ['trace.00002.heph', 'trace.00002.heph', false],
    ['trace.00000x.heph', 'trace.00000x.heph', false],
    ['000002.heph', '000002.heph', false],
    ['trace.heph', 'trace.heph', false],
  ])('%s is of %s', (file, trace, later) => {
    expect(nameOfTrace(file)).toBe(trace);
    expect(hasPredecessors(file)).toBe(later);
  });

  it('are found among files and ordered by their numbers', () => {
    const files = [
      '/run/trace.1000000.heph',
      '/run/trace.heph',
      '/run/other.000001.heph',
      '/run/trace.000002.heph',
      '/run/trace.000002.log',
      '/run/trace.999999.heph',
    ];
    expect(piecesAmong(files, '/run/trace.heph')).toEqual([
      '/run/trace.000002.heph',
      '/run/trace.999999.heph',
      '/run/trace.1000000.heph',
    ]);
  });
});
