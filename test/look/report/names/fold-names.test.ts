import { describe, expect, it } from 'vitest';
import { FoldedNames, OtherNames } from '../../../../src/look/report/names/fold-names.js';
import type { NamedGroup, TimedName } from '../../../../src/look/report/names/fold-names.js';
import { startSpan } from '../../../../src/spans/start-span.js';
import { recording, reportOn } from '../recorded-service.js';

const NOW = BigInt(Date.now()) * 1_000_000n;

function request(name: string, microseconds: number, attributes = {}): void {
  const options = { kind: 'server', parent: null, startTime: NOW } as const;
  startSpan(name, attributes, options).end(NOW + BigInt(microseconds) * 1000n);
}

describe('requests without a route', () => {
  it('have a row a path, where paths are few', async () => {
    const { path } = await recording(() => {
      for (let i = 0; i < 90; i++) request(`GET /page/${i % 3}`, 10);
    });
    const { groups } = (await reportOn([path])).report;
    expect(groups.map(({ name, count, folded }) => [name, count, folded])).toEqual([
      ['GET /page/0', 30, null],
      ['GET /page/1', 30, null],
      ['GET /page/2', 30, null],
    ]);
  });

  it('share a row of their method, but for those that took the most time', async () => {
    const { path } = await recording(() => {
      for (let i = 0; i < 500; i++) request(`GET /wp-admin/${i}.php`, 10);
      for (let i = 0; i < 60; i++) request(`POST /${i}`, 20);
      request('GET /export', 5000);
      for (let i = 0; i < 20; i++) request('GET /users/:id', 30, { 'http.route': '/users/:id' });
      request('GET /wp-admin/499.php', 10);
    });
    const { groups } = (await reportOn([path])).report;
    const named = new Map(groups.map((group) => [group.name, group]));
    expect(named.get('GET /export')).toMatchObject({ count: 1, folded: null });
    expect(named.get('GET /users/:id')).toMatchObject({ count: 20, folded: null });
    expect(named.get('GET /wp-admin/499.php')).toMatchObject({ count: 2, folded: null });
    // 40 rows for each method: of GET also the two above.
    expect(named.get('GET (462 other paths)')).toMatchObject({ count: 462, folded: 462 });
    expect(named.get('POST (20 other paths)')).toMatchObject({ count: 20, p50: 20_000 });
    expect(groups).toHaveLength(82);
    const total = groups.reduce((sum, { count }) => sum + count, 0);
    expect(total).toBe(500 + 60 + 1 + 20 + 1);
  });
});

/** A name of a service. */
function named(name: string, service?: string): NamedGroup {
  return { service, kind: null, system: null, name };
}

describe('folded names', () => {
  it('take the same memory, however many there are', () => {
    const folded = new FoldedNames();
    function* paths(): Generator<TimedName> {
      for (let i = 0; i < 200_000; i++) yield { ...named(`GET /${i}`, 'shop'), total: i };
    }
    folded.add(paths());
    folded.add([{ ...named('GET /7', 'shop'), total: 1e9 }]);
    expect(folded.keeps(named('GET /7', 'shop'))).toBe(true);
    expect(folded.keeps(named('GET /199999', 'shop'))).toBe(true);
    expect(folded.keeps(named('GET /100000', 'shop'))).toBe(false);
    const others = new OtherNames('GET /1');
    for (let i = 0; i < 200_000; i++) others.add(`GET /${i}`);
    expect(others.count).toBe(10_000);
    expect(others.text).toBe('GET (more than 10,000 other paths)');
  });

  it('that are no paths have a row each, up to a thousand of a service', () => {
    const folded = new FoldedNames();
    const names = Array.from({ length: 1500 }, (_, i) => `job ${i}`);
    folded.add(names.map((name, total) => ({ ...named(name), total })));
    expect(names.filter((name) => folded.keeps(named(name)))).toEqual(names.slice(500));
    const others = new OtherNames('job 1');
    others.add('job 1');
    expect(others.text).toBe('(1 other name)');
  });
});
