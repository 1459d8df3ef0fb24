import { defineConfig } from 'vitest/config';

export default defineConfig({
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
