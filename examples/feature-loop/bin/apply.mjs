// The first block of code in a reply becomes a file.   node apply.mjs REPLY FILE
import { readFileSync, writeFileSync } from 'node:fs';

const [reply, file] = process.argv.slice(2);
const block = /```(?:js|javascript|mjs)?\n(.*?)```/s.exec(readFileSync(reply, 'utf8'));
if (!block) {
  console.error('there is no block of code in the reply');
  process.exit(1);
}
writeFileSync(file, block[1]);
