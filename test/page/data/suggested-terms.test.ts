import { describe, expect, it } from 'vitest';
import { suggestedTerms } from '../../../src/page/data/search.js';
import { noBrowser, titleOf } from '../browser.js';
import { planOf, recordService } from '../recorded-service.js';
import { ViewedTraces } from '../viewed-traces.js';

const TERMS = ['name=GET', 'service=orders', 'http.route="/a b"', 'http.route=/stock', 'place=7'];

describe('suggested terms', () => {
  it.each([
    ['', []],
    ['http', ['http.route="/a b"', 'http.route=/stock']],
    ['HTTP.route="/a ', ['http.route="/a b"']],
    ['http.route=/a', ['http.route="/a b"']],
    ['status=error ser', ['status=error service=orders']],
    ['stock', ['http.route=/stock']],
    ['place=7', []],
    ['"GET /a" pl', ['"GET /a" place=7']],
    ['status=error ', []],
  ])('of %j', (text, expected) => {
    expect(suggestedTerms(text, TERMS)).toEqual(expected);
  });
});

const traces = new ViewedTraces(async (directory) => [await recordService(directory, planOf(100))]);

describe.skipIf(noBrowser !== undefined)(titleOf('a search that is typed'), () => {
  it('offers names and values that are recorded, which it finds', async () => {
    const { page } = await traces.open({}, '/find');
    const field = page.getByRole('combobox', { name: 'Find spans' });
    await field.fill('http.ro');
    const option = page.locator('#find-terms option').first();
    await option.waitFor({ state: 'attached' });
    const terms = await page
      .locator('#find-terms option')
      .evaluateAll((options) => options.map((each) => (each as HTMLOptionElement).value));
    expect(new Set(terms)).toEqual(
      new Set([
        'http.route=/orders/:id',
        'http.route=/stock',
        'http.route="SELECT orders"',
        'http.route=parse',
      ]),
    );
    const offered = async (typed: string): Promise<string[]> => {
      await field.fill(typed);
      return page
        .locator('#find-terms option')
        .evaluateAll((options) => options.map((each) => (each as HTMLOptionElement).value));
    };
    // A name of spans, by its own beginning and within the term.
    await expect.poll(() => offered('name=SEL')).toEqual(['name="SELECT orders"']);
    await expect.poll(() => offered('elect')).toContain('name="SELECT orders"');
    await expect
      .poll(() => offered('status=error service='))
      .toEqual(['status=error service=orders']);
    await field.fill('http.route="SELECT orders"');
    await page.getByText('100 spans that match').waitFor();
  });
});
