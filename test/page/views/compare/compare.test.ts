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
    await panel.locator('fieldset').nth(0).getByRole('checkbox', { name: /shop/ }).click();
    await panel.locator('fieldset').nth(1).getByRole('checkbox', { name: /stock/ }).click();
    await panel.getByText('These are different services: shop before, stock after.').waitFor();
    const line = panel.locator('tbody tr', { hasText: 'GET /stock' });
    await line.waitFor();
    expect(await line.innerText()).toContain('20 → 20');
  });
});
