import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import type { Plugin } from 'vitest/config';
import { BaseSequencer } from 'vitest/node';
import type { TestSpecification } from 'vitest/node';
import { RetriedTests } from './test/retried-tests.js';

const { version } = JSON.parse(readFileSync(new URL('package.json', import.meta.url), 'utf8')) as {
  version: string;
};

/**
 * What the sources require late, from another file of the built package, is imported at once here:
 * the tests run the TypeScript as ES modules.
 */
const lateRequires: Plugin = {
  name: 'late-requires',
  enforce: 'pre',
  transform(code, id) {
    if (!/\/src\/.*\.ts$/.test(id)) return null;
    const imports: string[] = [];
    const changed = code.replaceAll(/\brequire\('(\.[^']+)'\)/g, (_, path: string) => {
      imports.push(`import * as late${imports.length} from '${path}';`);
      return `late${imports.length - 1}`;
    });
    return imports.length === 0 ? null : `${imports.join(' ')} ${changed}`;
  },
};

/** The longest first: one that begins last would run alone. */
const LONG = ['package/tarball', 'torture/', 'faults/', 'core/ring/teardown', 'node/'];

class LongFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification): number => {
      const at = LONG.findIndex((name) => moduleId.includes(`/test/${name}`));
      return at === -1 ? LONG.length : at;
    };
    return (await super.sort(files)).sort((a, b) => rank(a) - rank(b));
  }
}

export default defineConfig({
  plugins: [lateRequires],
  define: { TRACEWRIGHT_VERSION: JSON.stringify(version) },
  test: {
    include: ['test/**/*.test.ts'],
    // Rings, sockets and signals are process-wide: every file gets a process of its own.
    pool: 'forks',
    // One more than processors: most of them wait for processes that they have started.
    maxWorkers: availableParallelism() + 1,
    sequence: { sequencer: LongFirst },
    // Kills and faults come at moments that nobody chooses. What passes only then is listed.
    retry: 1,
    reporters: ['default', new RetriedTests()],
    // Where many tests run at once, any event loop stalls now and then.
    env: { TRACEWRIGHT_STALL_MS: 'off' },
    // As long as the tests wait for what the page shows: a second is short where many tests run.
    expect: { poll: { timeout: 10_000 } },
    testTimeout: 120_000,
    hookTimeout: 120_000,
  },
});
