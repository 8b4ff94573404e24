import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    // The cases are data; some hold files that look like tests.
    exclude: ['test/conformance/*/**'],
    maxWorkers: 2,
    maxConcurrency: 4,
    testTimeout: 20_000,
  },
});
