import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    // Rings, sockets and signals are process-wide: every file gets a process of its own.
    pool: 'forks',
    testTimeout: 120_000,
    hookTimeout: 120_000,
  },
});
