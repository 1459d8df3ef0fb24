import { describe, expect, it } from 'vitest';
import { DEFAULT_NAMES, INJECTED_NAMES, LIBRARY_NAMES } from '../../src/libraries/table.js';
import { namesOf, recordedNames } from '../../src/node/library-settings.js';

describe('names of libraries', () => {
  it('are all, none, or a list', () => {
    const { parse } = namesOf(LIBRARY_NAMES, DEFAULT_NAMES);
    expect(parse('auto')).toEqual(DEFAULT_NAMES);
    expect(DEFAULT_NAMES).not.toContain('graphql:resolve');
    expect(parse(' off ')).toEqual([]);
    expect(parse('mysql2, IORedis,mysql2')).toEqual(['ioredis', 'mysql2']);
    expect(parse('auto,graphql:resolve')).toContain('graphql:resolve');
    expect(parse('auto,graphql:resolve')).toHaveLength(DEFAULT_NAMES.length + 1);
    for (const wrong of ['', ',', 'none', 'off,mysql2', 'mysql2,unknown', 'constructor']) {
      expect(parse(wrong)).toBeUndefined();
    }
  });

  it('into which channels are put are of those without their own', () => {
    const { parse } = namesOf(INJECTED_NAMES, INJECTED_NAMES);
    expect(parse('auto')).toEqual(INJECTED_NAMES);
    expect(parse('pg')).toEqual(['pg']);
    expect(parse('graphql')).toBeUndefined();
  });

  it('without channels of their own are recorded only with those that are put into them', () => {
    expect(recordedNames(['pg', 'mysql2'], [])).toEqual(['mysql2']);
    expect(recordedNames(['pg', 'mysql2'], ['pg'])).toEqual(['pg', 'mysql2']);
    expect(recordedNames([], ['pg'])).toEqual([]);
  });
});
