// Bundles a module of this repository that is written in TypeScript, and imports it.

import { mkdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from 'esbuild';

/** `module`: its path from the root of the repository. The bundle lies in the repository, so that it finds the packages. */
export async function importTypescript(module) {
  const out = fileURLToPath(new URL('out/', import.meta.url));
  const outfile = `${out}${path.basename(module, '.ts')}-${process.pid}.mjs`;
  mkdirSync(out, { recursive: true });
  try {
    await build({
      entryPoints: [fileURLToPath(new URL(`../${module}`, import.meta.url))],
      outfile,
      bundle: true,
      platform: 'node',
      format: 'esm',
      target: 'node20',
      packages: 'external',
      logLevel: 'error',
    });
    return await import(pathToFileURL(outfile).href);
  } finally {
    rmSync(outfile, { force: true });
  }
}
