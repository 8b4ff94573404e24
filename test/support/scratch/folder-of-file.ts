/** Gives each test file a folder for its temporary files, and removes it behind the file: what it leaves may be hundreds of megabytes. */
import { mkdtempSync, rmSync } from 'node:fs';
import path from 'node:path';
import { afterAll } from 'vitest';

const scratch = process.env['MLLD_TEST_SCRATCH'];
if (scratch !== undefined) {
  const own = mkdtempSync(path.join(scratch, 'file-'));
  process.env['TMPDIR'] = own;
  afterAll(() => {
    try {
      rmSync(own, { recursive: true, force: true });
    } catch {
      // A process that a test has killed is still writing; the folder goes at the end of all tests.
    }
  });
}
