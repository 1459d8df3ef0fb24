import { expect, test } from 'vitest';
import {
  endRequest,
  endRequestWith,
  keepWith,
  startRequestFrom,
} from '../../../src/spans/begin-span.js';
import { KIND_SHIFT, KINDS } from '../../../src/spans/layout.js';
import { Scope } from '../../../src/spans/scope.js';
import { SpanEnding } from '../../../src/spans/write/span-ending.js';
import { SpanTemplate } from '../../../src/spans/write/span-template.js';
import { temporaryDirectory } from '../../heph/temporary-file.js';
import { recorded } from '../span-trace.js';

const directory = temporaryDirectory();
const SERVER = KINDS.indexOf('server') << KIND_SHIFT;
/** A name that came once has no list yet, and the first span of a template is encoded for itself. */
const WARM_UP = 3;

test('a request whose route is known before its end is recorded without a second encoding', async () => {
  const template = new SpanTemplate(new Scope('test'), 'GET', SERVER, (path) => ({ path }), true);
  const ending = new SpanEnding('status', 'route');
  const spans = await recorded(directory, () => {
    for (let n = 0; n < WARM_UP; n++) {
      const span = startRequestFrom(template, '/', undefined, true);
      keepWith(span, 'GET /:n', 'route', '/:n');
      endRequest(span);
    }
    for (let n = 0; n < 3; n++) {
      const span = startRequestFrom(template, `/${n}`, undefined, true);
      expect(keepWith(span, 'GET /:n', 'route', '/:n')).toBe(true);
      // The route would be there twice.
      expect(endRequestWith(span, ending, 200, '/:n', true)).toBe(false);
      expect(endRequestWith(span, ending, 200, '', false)).toBe(true);
    }
  });
  expect(spans.slice(WARM_UP).map(({ name, attributes }) => [name, attributes])).toEqual(
    [0, 1, 2].map((n) => ['GET /:n', { path: `/${n}`, route: '/:n', status: 200 }]),
  );
});
