// Copies the notice when it is short enough: node check.mjs FROM TO
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';

const WORDS_MAX = 30;
const [, , from, to] = process.argv;
const notice = readFileSync(from, 'utf8').trim();
const words = notice.split(/\s+/).length;
if (words > WORDS_MAX) {
  console.error(`${words} words are too many: at most ${WORDS_MAX}`);
  process.exit(1);
}
mkdirSync(dirname(to), { recursive: true });
writeFileSync(to, `${notice}\n`);
console.log(`${words} words, written to ${to}`);
