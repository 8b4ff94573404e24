/** A folder of its own for as long as some work takes. */
import fs from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';

export async function temporaryProject(work: (root: string) => Promise<void>): Promise<void> {
  const root = await fs.mkdtemp(path.join(os.tmpdir(), 'mlld-'));
  try {
    await work(root);
  } finally {
    await fs.rm(root, { recursive: true, force: true });
  }
}
