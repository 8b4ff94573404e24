// Stands in for a model: reads the prompt on standard input. Its first notes claim something that no commit did.
import { readFileSync } from 'node:fs';

const isAgain = readFileSync(0, 'utf8').includes('no commit fits');
const commits = readFileSync('commits.txt', 'utf8').trim().split('\n');
const noticed = commits.filter((line) => !/typo|rename/i.test(line));
const notes = noticed.map((line) => `- ${line.slice(5)} (${line.slice(0, 4)})`);
console.log([...notes, ...(isAgain ? [] : ['- Everything is faster now'])].join('\n'));
