/** A process that stores growing texts until it is killed; says on standard output which of them are stored. */
import { writeSync } from 'node:fs';
import { openFileStore } from '../../../journal/storage/file-store.js';
import { growing } from '../packs/related-texts.js';

const [root, seed] = process.argv.slice(2) as [string, string];
const store = openFileStore(root);
for (let turn = 0; ; turn += 2) {
  const { blob } = await store.packBlob(growing(seed, turn));
  writeSync(1, `${blob}\n`);
  const both = await Promise.all([turn, turn + 1].map((n) => store.packBlob(growing(seed, n))));
  writeSync(1, `${both[1]?.blob}\n`);
}
