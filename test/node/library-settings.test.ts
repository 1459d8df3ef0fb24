import { describe, expect, it } from 'vitest';
import { DEFAULT_NAMES, INJECTED_NAMES } from '../../src/libraries/watched-channels.js';
import { parseInject, parseLibraries, recordedNames } from '../../src/node/library-settings.js';

describe('names of libraries', () => {
  it('are all, none, or a list', () => {
    expect(parseLibraries('auto')).toEqual(DEFAULT_NAMES);
    expect(DEFAULT_NAMES).not.toContain('graphql:resolve');
    expect(parseLibraries(' off ')).toEqual([]);
    expect(parseLibraries('mysql2, IORedis,mysql2')).toEqual(['ioredis', 'mysql2']);
    expect(parseLibraries('auto,graphql:resolve')).toContain('graphql:resolve');
    expect(parseLibraries('auto,graphql:resolve')).toHaveLength(DEFAULT_NAMES.length + 1);
    for (const wrong of ['', ',', 'none', 'off,mysql2', 'mysql2,unknown', 'constructor']) {
      expect(parseLibraries(wrong)).toBeUndefined();
    }
  });

  it('into which channels are put are of those without their own', () => {
    expect(parseInject('auto')).toEqual(INJECTED_NAMES);
    expect(parseInject('pg')).toEqual(['pg']);
    expect(parseInject('graphql')).toBeUndefined();
  });

  it('without channels of their own are recorded only with those that are put into them', () => {
    expect(recordedNames(['pg', 'mysql2'], [])).toEqual(['mysql2']);
    expect(recordedNames(['pg', 'mysql2'], ['pg'])).toEqual(['pg', 'mysql2']);
    expect(recordedNames([], ['pg'])).toEqual([]);
  });
});
