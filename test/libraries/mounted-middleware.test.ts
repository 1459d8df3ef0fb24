import { expect, it } from 'vitest';
import { runLibrary } from './traced-library.js';

const OF_EXPRESS = ['middleware', 'middleware /api/', 'middleware named'];

it.each([
  ['express', 'newest', OF_EXPRESS],
  ['express', 'ancient', OF_EXPRESS],
  ['express', 'earlier', OF_EXPRESS],
  ['express', 'oldest', OF_EXPRESS],
  ['koa', 'newest', ['middleware /api']],
  ['koa', 'oldest', ['middleware /api']],
] as const)(
  'a middleware of %s, %s, without a name has that of its mount',
  async (of, age, names) => {
    const { spans } = await runLibrary('mounted-middleware', age, of, {}, [of]);
    const found = spans.map(({ name }) => name).filter((name) => name.startsWith('middleware'));
    expect(found.sort()).toEqual([...names]);
  },
);
