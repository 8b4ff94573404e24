// Stands in for a model: reads the prompt on standard input. Its first notice is too long, and the next one is not.
import { readFileSync } from 'node:fs';

const isAgain = readFileSync(0, 'utf8').includes('words are too many');
const politeness = 'We are sorry for the inconvenience, thank you for your patience, and look forward to welcoming you aboard again soon. ';
console.log(`${isAgain ? '' : politeness.repeat(2)}From Monday on, the last ferry leaves at ten.`);
