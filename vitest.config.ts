import { readFileSync } from 'node:fs';
import { defineConfig } from 'vitest/config';
import type { Plugin } from 'vitest/config';

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

export default defineConfig({
  plugins: [lateRequires],
  define: { TRACEWRIGHT_VERSION: JSON.stringify(version) },
  test: {
    include: ['test/**/*.test.ts'],
    // Rings, sockets and signals are process-wide: every file gets a process of its own.
    pool: 'forks',
    // Most of them wait for processes that they have started.
    maxWorkers: '100%',
    // Kills and faults come at moments that nobody chooses; what fails once is told, and tried again.
    retry: 1,
    testTimeout: 120_000,
    hookTimeout: 120_000,
  },
});
