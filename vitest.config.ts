import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    // The cases are data; some hold files that look like tests.
    exclude: ['test/conformance/*/**'],
    maxWorkers: 2,
    maxConcurrency: 4,
    // What takes long here starts real processes, and the machine may be busy.
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
});
