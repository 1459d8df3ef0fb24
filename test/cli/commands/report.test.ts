import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Comparison } from '../../../src/look/compare/comparison-shape.js';
import type { Report } from '../../../src/look/report/shape/report-shape.js';
import { temporaryDirectory } from '../../heph/temporary-file.js';
import { recording, serviceRequests } from '../../look/report/recorded-service.js';
import { tracewright } from '../run-command.js';

const directory = temporaryDirectory();
const { path } = await recording(() => {
  serviceRequests(500);
});

function jsonOf(...args: string[]): Report {
  const { status, stdout, stderr } = tracewright('report', path, '--json', ...args);
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  return JSON.parse(stdout) as Report;
}

describe('tracewright report', () => {
  it('prints text', () => {
    const { status, stdout } = tracewright('report', path);
    expect(status).toBe(0);
    const lines = stdout.split('\n');
    expect(lines[0]).toMatch(/^1,000 spans in 500 traces in .* from 1 recording$/);
    expect(stdout).toMatch(/^Routes/m);
    expect(stdout).toContain('GET /orders/:id');
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(100);
    expect(stdout).not.toContain('\u001b');
  });

  it('prints JSON of the documented shape', () => {
    const report = jsonOf();
    expect(Object.keys(report)).toEqual([
      'version',
      'from',
      'to',
      'length',
      'by',
      'attributes',
      'outside',
      'exact',
      'notKept',
      'aboveLimit',
      'lostCounts',
      'sources',
      'recordedTwice',
      'runs',
      'unknownAttributes',
      'withoutContext',
      'groups',
      'callees',
      'errors',
      'pools',
      'slowest',
      'slowestOf',
      'interruptions',
      'threads',
      'profile',
      'allocations',
      'memory',
      'open',
      'completeness',
      'mpi',
      'losses',
      'timeline',
      'cost',
      'findings',
    ]);
    for (const { name, service, count, errors, rate, p50, p95, p99, max, total } of report.groups) {
      expect([typeof name, typeof service]).toEqual(['string', 'string']);
      for (const figure of [count, errors, rate, p50, p95, p99, max, total]) {
        expect(figure).toBeTypeOf('number');
      }
    }
  });

  it('takes conditions, also times before the end', () => {
    const all = jsonOf('--by', 'name');
    expect(all.groups.find(({ name }) => name === 'SELECT')!.count).toBe(500);
    const last = jsonOf('--since', '-2s', '--by', 'name');
    expect(last.groups.find(({ name }) => name === 'SELECT')!.count).toBeLessThan(200);
    const some = jsonOf('--where', 'name=GET /cart', '--where', 'status=error', '--slowest', '1');
    expect(some.groups).toHaveLength(1);
    expect(some.groups[0]!.errors).toBe(some.groups[0]!.count);
    expect(some.slowest).toHaveLength(1);
  });

  it('writes a page, and replaces none without --force', () => {
    const file = join(directory, 'report.html');
    expect(tracewright('report', path, '--html', file).status).toBe(0);
    expect(readFileSync(file, 'utf8')).toMatch(/^<!doctype html>/);
    expect(statSync(file).size).toBeLessThan(2_000_000);
    const again = tracewright('report', path, '--html', file);
    expect(again.status).toBe(2);
    expect(again.stderr).toContain('exists; replace it with --force');
    expect(tracewright('report', path, '--html', file, '--force').status).toBe(0);
  });

  it('compares with another recording', () => {
    const { status, stdout, stderr } = tracewright('report', path, '--against', path);
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    expect(stdout).toContain('0 of 5 kinds of spans became slower; 0 became faster; 5 took about');
    const json = tracewright('report', path, '--against', path, '--json', '--where', 'name=SELECT');
    const { groups, ...sides } = JSON.parse(json.stdout) as Comparison;
    expect(Object.keys(sides)).toEqual(['version', 'before', 'after', 'errors', 'memory']);
    expect(groups.map(({ name, before }) => [name, before.count])).toEqual([['SELECT', 500]]);
  });

  it('refuses what it does not know', () => {
    const wrong: [string[], string][] = [
      [
        ['--by', 'colour'],
        '--by must be one of route, name, service, or attributes such as db.query.text (attribute.user for one without a point), got "colour"',
      ],
      [['--slowest', 'all'], '--slowest must be a number from 0 to 100, got "all"'],
      [['--since', 'soon'], '--since'],
      [['--where', 'name'], '--where'],
      [['--against', path, '--by', 'name'], '--by name cannot be used with --against'],
      [['--json', '--html', 'x'], '--json and --html cannot be used together'],
    ];
    for (const [args, message] of wrong) {
      const { status, stderr } = tracewright('report', path, ...args);
      expect(status).toBe(2);
      expect(stderr).toContain(message);
    }
  });
});
