/** Real processes that are killed while they store, alone and beside each other. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { beforeAll, expect, it } from 'vitest';
import { sha256 } from '../../../journal/canonical.js';
import type { BlobId } from '../../../journal/ids.js';
import { openFileStore } from '../../../journal/storage/file-store.js';
import { openDeleter } from '../../../journal/upkeep/delete-runs.js';
import { temporaryFolder } from '../support/folder.js';
import { growing } from './related-texts.js';

let program: string;

beforeAll(async () => {
  const entry = fileURLToPath(new URL('../support/endless-packer.ts', import.meta.url));
  const built = await build({ entryPoints: [entry], bundle: true, platform: 'node', format: 'esm', target: 'node20', write: false });
  program = built.outputFiles[0]?.text ?? '';
});

/** Returns the blobs that the process has acknowledged before it was killed. */
async function packUntilKilled(root: string, seed: string, acknowledgements: number): Promise<BlobId[]> {
  const child = spawn(process.execPath, ['--input-type=module', '-', root, seed], { stdio: ['pipe', 'pipe', 'inherit'] });
  child.stdin.end(program);
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text;
    if (!child.killed && output.split('\n').length > acknowledgements) child.kill('SIGKILL');
  });
  const [code, signal] = (await once(child, 'close')) as [number | null, string | null];
  expect({ code, signal }).toEqual({ code: null, signal: 'SIGKILL' });
  return output.split('\n').slice(0, -1) as BlobId[];
}

it.each([1, 2, 9, 30])('leaves every text that was acknowledged before kill -9: after %i', async (count) => {
  const root = temporaryFolder();
  const stored: BlobId[] = [];
  for (let process = 0; process < 3; process++) {
    stored.push(...(await packUntilKilled(root, 'tide', count + process)));
    for (const blob of stored) expect(sha256((await openFileStore(root).getBlob(blob)) as Uint8Array)).toBe(blob);
  }
  expect(stored[0]).toBe(sha256(growing('tide', 0)));
});

it('mixes up nothing that four processes store at once, and gc takes away what is theirs', async () => {
  const root = temporaryFolder();
  const seeds = ['ebb', 'flow', 'neap', 'spring'];
  const stored = await Promise.all(seeds.map((seed) => packUntilKilled(root, seed, 20)));
  for (const blob of stored.flat()) expect(sha256((await openFileStore(root).getBlob(blob)) as Uint8Array)).toBe(blob);
  const deleter = openDeleter(root);
  const going = new Set([...(stored[0] as BlobId[]), ...(stored[2] as BlobId[])]);
  await deleter.trash([...going]);
  await deleter.deleteTrashed([...going]);
  for (const blob of stored.flat()) expect((await openFileStore(root).getBlob(blob)) !== undefined).toBe(!going.has(blob));
});
