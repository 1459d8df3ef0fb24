import { describe, expect, it } from 'vitest';
import { cpuMs } from '../../cpu-time.js';
import { errorFrame, messageShape } from '../../../src/look/report/errors/error-text.js';

describe('the shape of a message', () => {
  it.each([
    ['no stock of 17', 'no stock of ?'],
    ['took 1.5 s of -3', 'took ? s of ?'],
    ['connect ECONNREFUSED 127.0.0.1:5432', 'connect ECONNREFUSED ?'],
    ["ENOENT: no such file, open '/tmp/a b'", 'ENOENT: no such file, open ?'],
    ["can't find user 'O'Brien', nor \"x\"", "can't find user ?, nor ?"],
    ['order 3f2504e0-4f89-11d3-9a0c-0305e82c3301 is gone', 'order ? is gone'],
    ['key 0xdeadbeef of 5f1e2d3c4b5a is taken', 'key ? of ? is taken'],
    ['customer usr_k3j9x2 is unknown', 'customer ? is unknown'],
    ['deadlock detected\nDETAIL: process 7', 'deadlock detected'],
    ['facade decade added', 'facade decade added'],
    ['', null],
    ['  \n ', null],
  ])('%s', (message, shape) => {
    expect(messageShape(message)).toBe(shape);
  });

  it('is short, and made in linear time', () => {
    const from = cpuMs();
    for (const piece of ["'", 'a1', '1-', '" ', 'a', '0x'])
      expect(messageShape(piece.repeat(1e6))!.length).toBeLessThan(202);
    expect(cpuMs() - from).toBeLessThan(2000);
  });
});

describe('the frame of an error', () => {
  const stack = (...frames: string[]): string =>
    ['Error: at work (a.js:1:1) it broke', ...frames.map((each) => `    at ${each}`)].join('\n');

  it('is the first frame of the program', () => {
    expect(
      errorFrame(
        stack(
          'JSON.parse (<anonymous>)',
          'read (node:fs:1:2)',
          'q (/app/node_modules/pg/lib/x.js:9:9)',
          'async reserve (file:///app/src/stock.mjs:12:9)',
          'buy (/app/src/buy.js:1:1)',
        ),
      ),
    ).toEqual({ text: 'reserve (/app/src/stock.mjs:12:9)', key: 'reserve stock.mjs' });
    expect(errorFrame(stack('C:\\app\\a.js:3:4'))).toEqual({
      text: 'C:\\app\\a.js:3:4',
      key: ' a.js',
    });
  });

  it('is one of a package, else of Node, if there is no other', () => {
    const [ofNode, ofPackage] = ['read (node:fs:1:2)', 'q (/app/node_modules/pg/x.js:9:9)'];
    expect(errorFrame(stack(ofNode, ofPackage))!.key).toBe('q x.js');
    expect(errorFrame(stack(ofNode))!.text).toBe('read (node:fs:1:2)');
    expect(errorFrame(stack('<anonymous>'))).toBe(null);
    expect(errorFrame('')).toBe(null);
  });
});
