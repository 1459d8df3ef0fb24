import { describe, expect, it } from 'vitest';
import { noBrowser, titleOf } from '../../browser.js';
import { planOf, recordService } from '../../recorded-service.js';
import { ViewedTraces } from '../../viewed-traces.js';

const traces = new ViewedTraces(async (directory) => [
  await recordService(directory, planOf(30), { service: 'shop' }),
  await recordService(directory, planOf(30), { service: 'stock' }),
]);

describe.skipIf(noBrowser !== undefined)(titleOf('a comparison of different services'), () => {
  it('is offered by nobody, and says what it is when chosen', async () => {
    const { page } = await traces.open({}, '/compare');
    const panel = page.locator('#view-compare');
    await panel.getByText('No service was recorded twice').waitFor();
    for (const [side, name] of [
      ['Before', /shop/],
      ['After', /stock/],
    ] as const) {
      await panel.getByText(`${side}: choose a recording`).click();
      await panel.getByRole('group', { name: side }).getByRole('checkbox', { name }).click();
    }
    await panel.getByText('These are different services: shop before, stock after.').waitFor();
    const line = panel.locator('tbody tr', { hasText: 'GET /stock' });
    await line.waitFor();
    expect(await line.innerText()).toContain('20 → 20');
  });
});
