import { ChromeWriter } from '../../../src/export/chrome/chrome-writer.js';
import type { ChromeEvent } from '../../../src/export/chrome/chrome-writer.js';
import { PictureExport } from '../../../src/export/picture/picture-export.js';
import type { ExportOptions } from '../../../src/export/selection.js';
import { findTraces } from '../../../src/traces/find-traces.js';

/** The traces at a path as `convert --to chrome` writes them. */
export function chromeEvents(path: string, options: ExportOptions = {}): ChromeEvent[] {
  const chunks = new PictureExport(findTraces([path]), new ChromeWriter(), options).chunks();
  const text = Buffer.concat([...chunks]).toString('utf8');
  return (JSON.parse(text) as { traceEvents: ChromeEvent[] }).traceEvents;
}
