import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Files that take minutes. One that began last would go on alone when all others have ended. */
const LONG = ['conformance/conformance.test.ts', 'viewer/page-matrix.test.ts'];

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const isLong = ({ moduleId }: TestSpecification): boolean => LONG.some((name) => moduleId.endsWith(name));
    const sorted = await super.sort(files);
    return [...sorted.filter(isLong), ...sorted.filter((file) => !isLong(file))];
  }
}

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    // The cases are data; some hold files that look like tests.
    exclude: ['test/conformance/*/**'],
    globalSetup: ['test/support/scratch/folder-of-run.ts'],
    setupFiles: ['test/support/scratch/folder-of-file.ts', 'test/support/property-seed.ts'],
    // Half of the time of a test is a wait for a process or a timer, so that two processors have room for a third worker.
    maxWorkers: 3,
    maxConcurrency: 4,
    sequence: { sequencer: LongestFirst },
    // Loading the sources anew for each of hundreds of files took as long as a fifth of the tests. A test leaves no global thing changed.
    isolate: false,
    // Node 20 reads all certificates at its start where more are named, which takes twice as long as the rest of it. Tests talk to 127.0.0.1.
    env: { NODE_EXTRA_CA_CERTS: '' },
    // What takes long here starts real processes, and the machine may be busy.
    testTimeout: 60_000,
    hookTimeout: 60_000,
    expect: { poll: { timeout: 30_000 } },
  },
});
