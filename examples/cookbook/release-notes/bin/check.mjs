// Fails unless every line of the notes names a commit that exists, and every commit that adds something is named.
import { readFileSync } from 'node:fs';

const commits = new Map(
  readFileSync('commits.txt', 'utf8')
    .trim()
    .split('\n')
    .map((line) => [line.slice(0, 4), line.slice(5)]),
);
const lines = readFileSync(process.argv[2], 'utf8').trim().split('\n');
const named = lines.map((line) => /\((\w+)\)\W*$/.exec(line)?.[1]);
const wrong = lines.filter((_, at) => !commits.has(named[at])).map((line) => `no commit fits the line "${line}"`);
const missing = [...commits].filter(([id, text]) => text.startsWith('Add') && !named.includes(id)).map(([id]) => `${id} is missing`);
const problems = [...wrong, ...missing];
if (problems.length > 0) {
  console.error(problems.join('; '));
  process.exit(1);
}
console.log(`${lines.length} lines, each with its commit`);
