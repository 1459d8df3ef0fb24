import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { afterAll, afterEach, beforeAll } from 'vitest';
import { launchBrowser, noBrowser } from './browser.js';
import { openPage } from './open-page.js';
import type { OpenPage, PageOptions } from './open-page.js';
import { startView } from './view-command.js';
import type { ViewCommand } from './view-command.js';

/**
 * Traces that `tracewright view` shows to the tests of a file: one browser, and one server unless a test
 * starts its own. Pages are closed after each test.
 */
export class ViewedTraces {
  readonly directory = mkdtempSync(join(tmpdir(), 'tracewright-page-'));
  view!: ViewCommand;
  browser!: Browser;
  readonly #pages: OpenPage[] = [];
  readonly #views: ViewCommand[] = [];

  /** @param record makes the traces and returns their paths; none: no server is started. */
  constructor(record: (directory: string) => string[] | Promise<string[]>) {
    beforeAll(async () => {
      if (noBrowser !== undefined) return;
      const paths = await record(this.directory);
      if (paths.length > 0) this.view = await this.start(paths);
      this.browser = await launchBrowser();
    });
    afterEach(async () => {
      for (const page of this.#pages.splice(0)) await page.close();
    });
    afterAll(async () => {
      // None if what was to be recorded has failed.
      await (this.browser as Browser | undefined)?.close();
      for (const view of this.#views) await view.end();
      rmSync(this.directory, { recursive: true });
    });
  }

  /** Another server, which ends with the file. */
  async start(paths: string[], ...options: string[]): Promise<ViewCommand> {
    const view = await startView(paths, ...options);
    this.#views.push(view);
    return view;
  }

  /** Opens a view of the page of a server. */
  async open(
    options: PageOptions = {},
    address = '/time-line',
    view: ViewCommand = this.view,
  ): Promise<OpenPage> {
    const page = await openPage(this.browser, view.address(address), options);
    this.#pages.push(page);
    return page;
  }
}
