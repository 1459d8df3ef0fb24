import { describe, expect, it } from 'vitest';
import { likelySides, runsOf } from '../../src/look/report/recording-sides.js';
import type { SourceAnswer } from '../../src/look/wire/answers.js';
import { noBrowser, titleOf } from './browser.js';
import { planOf, recordService } from './recorded-service.js';
import { ViewedTraces } from './viewed-traces.js';

const traces = new ViewedTraces(async (directory) => [
  await recordService(directory, planOf(30), { service: 'shop' }),
  await recordService(directory, planOf(30), { service: 'stock' }),
]);

let number = 0;

function source(path: string, service: string, begin: number, format = 'Heph'): SourceAnswer {
  const order = number++;
  const times = { begin, end: begin + 10, clockOffset: '0' };
  const about = service === '' ? {} : { service };
  const content = format === 'ovni' ? 'states of threads' : 'spans';
  return {
    number: order,
    order,
    path,
    format,
    content,
    ...about,
    ...times,
    state: 'ended',
    losses: [],
  } as unknown as SourceAnswer;
}

describe('what is before and after', () => {
  it.each([
    ['two directories', ['a/x.heph shop 0', 'b/x.heph shop 0'], ['a'], ['b']],
    [
      'several services in two directories',
      ['a/x.heph shop 0', 'a/y.heph stock 0', 'b/x.heph shop 0', 'b/y.heph stock 0'],
      ['a · shop', 'a · stock'],
      ['b · shop', 'b · stock'],
    ],
    [
      'two runs in one directory, one after the other',
      ['a/s1 shop 0', 'a/t1 stock 0', 'a/s2 shop 20', 'a/t2 stock 20'],
      ['s1', 't1'],
      ['s2', 't2'],
    ],
    ['processes of one run', ['a/s1 shop 0', 'a/s2 shop 5', 'a/s3 shop 30'], ['s1', 's2'], ['s3']],
    ['different services at once', ['a/s1 shop 0', 'a/t1 stock 0'], [], []],
  ])('of %s', (_, lines, before, after) => {
    const sources = lines.map((line) => {
      const [path, service, begin] = line.split(' ') as [string, string, string];
      return source(path, service, Number(begin));
    });
    // States of threads are no side of their own.
    sources.push(source('a/ovni', '', 0, 'ovni'));
    expect(likelySides(sources, runsOf(sources))).toEqual({ before, after });
  });
});

describe.skipIf(noBrowser !== undefined)(titleOf('a comparison of different services'), () => {
  it('is offered by nobody, and says what it is when chosen', async () => {
    const { page } = await traces.open({}, '&panel=compare');
    const panel = page.locator('#panel-compare');
    await panel.getByText('No service was recorded twice').waitFor();
    await panel.locator('fieldset').nth(0).getByRole('checkbox', { name: /shop/ }).click();
    await panel.locator('fieldset').nth(1).getByRole('checkbox', { name: /stock/ }).click();
    await panel.getByText('These are different services: shop before, stock after.').waitFor();
    const line = panel.locator('tbody tr', { hasText: 'GET /stock' });
    await line.waitFor();
    expect(await line.innerText()).toContain('20 → 20');
  });
});
