import { cpSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { readSpans } from '../../../src/spans/index.js';
import type { SpanRecord } from '../../../src/spans/index.js';
import { hephFiles } from '../written-traces.js';

/** Set by `npm run test:open-telemetry`, which installs the packages there. */
export const place = process.env['TRACEWRIGHT_TEST_OPEN_TELEMETRY'];

const programs = fileURLToPath(new URL('programs/', import.meta.url));

/** Copies programs to where they find the packages. */
export function install(name: string, files: readonly string[], manifest: object): string {
  const directory = join(place!, 'programs', name);
  mkdirSync(directory, { recursive: true });
  writeFileSync(join(directory, 'package.json'), JSON.stringify(manifest));
  for (const file of files)
    cpSync(join(programs, file), join(directory, file), { recursive: true });
  return directory;
}

/** Dependencies as a package.json has them. */
export function dependencies(...names: string[]): { dependencies: Record<string, string> } {
  return { dependencies: Object.fromEntries(names.map((name) => [name, '*'])) };
}

/** Every span of a run. */
export async function recordedIn(directory: string): Promise<SpanRecord[]> {
  const spans: SpanRecord[] = [];
  for await (const span of readSpans(hephFiles(directory))) spans.push(span);
  return spans;
}

/** The spans below one, as indented names of scopes and spans, in the order of their starts. */
export function treeOf(spans: readonly SpanRecord[], parent?: string, depth = 0): string[] {
  return spans
    .filter(({ parentSpanId }) => parentSpanId === parent)
    .sort((a, b) => Number(a.start - b.start))
    .flatMap((span) => [
      `${'  '.repeat(depth)}${shortScope(span)}: ${span.name}`,
      ...treeOf(spans, span.spanId, depth + 1),
    ]);
}

function shortScope({ scope }: SpanRecord): string {
  return (scope?.name ?? '').replace('@opentelemetry/instrumentation-', '');
}
