import { describe, expect, it } from 'vitest';
import { parseFindText } from '../../../src/look/condition/where.js';

const TRACE = '0af7651916cd43dd8448eb211c80319c';

describe('parseFindText', () => {
  it.each([
    ['', {}],
    ['GET /orders', { name: '*GET /orders*' }],
    ['GET *', { name: 'GET *' }],
    ['"a  b"', { name: '*a  b*' }],
    [TRACE.toUpperCase(), { traceId: TRACE }],
    ['unfinished missing-parent', { unfinished: true, missingParent: true }],
    [
      'status=error duration>=1.5ms orders',
      { status: 'error', minDuration: 1_500_000, name: '*orders*' },
    ],
    ['http.route="/a b"', { attributes: [{ name: 'http.route', value: '/a b' }] }],
    ['name="GET /a b"', { name: 'GET /a b' }],
  ])('reads %j', (text, condition) => {
    expect(parseFindText(text)).toEqual(condition);
  });

  it('takes any other name for an attribute', () => {
    const attributes = [{ name: 'constructor', value: '' }];
    expect(parseFindText('constructor=')).toEqual({ attributes });
  });

  it.each(['status=sad', 'duration>=soon', '=1', 'name=a name=b'])('refuses %j', (text) => {
    expect(() => parseFindText(text)).toThrow('--where');
  });
});
