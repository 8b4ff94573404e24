// Every line is what the feature has to do. Status 1 and the failing lines when it does not.
import { parseDuration } from './duration.mjs';

const RIGHT = { '250ms': 250, '90s': 90_000, '2h': 7_200_000, '1h30m': 5_400_000, '1m500ms': 60_500 };
const WRONG = ['', 'abc', '5', '3x', '1h-2m'];

const failures = [];
for (const [text, expected] of Object.entries(RIGHT)) {
  const found = outcome(text);
  if (found !== expected) failures.push(`parseDuration("${text}") should be ${expected}, and is ${found}`);
}
for (const text of WRONG) {
  const found = outcome(text);
  if (found !== 'an error') failures.push(`parseDuration("${text}") should be an error, and is ${found}`);
}
const all = Object.keys(RIGHT).length + WRONG.length;
console.log(failures.length === 0 ? `${all} of ${all} hold` : failures.join('\n'));
if (failures.length > 0) {
  console.error(`${failures.length} of ${all} do not hold`);
  process.exitCode = 1;
}

function outcome(text) {
  try {
    return parseDuration(text);
  } catch {
    return 'an error';
  }
}
