/** The options behind the body of a function: `exe llm @draw(name) = … with { writes: […] }`. control.md 3.1, design.md 3. */
import { closest } from '../../closest.js';
import { SyntaxFailure } from '../../errors.js';

/** Options that say something about the llm calls of the function. checkpoint-resume.md 5.5 and 6.2, calls.md 11.1. */
export const CALL_OPTIONS = [
  'key',
  'writes',
  'reply',
  'schema',
  'repair',
  'retries',
  'timeout',
  'lane',
  'model',
  'maxCost',
  'onFailure',
  'partial',
  'files',
] as const;

/** All options of a function; what its calls take is the last part. */
export const EXE_OPTIONS: readonly string[] = [
  'pipeline',
  'stdin',
  'stream',
  'streamFormat',
  'parallel',
  'delay',
  'format',
  'description',
  ...CALL_OPTIONS,
];

interface Named {
  readonly at: number;
  readonly name: string;
}

/** Throws SyntaxFailure: an unknown option must not be ignored silently. */
export function checkExeOptions(options: readonly Named[]): void {
  const seen = new Set<string>();
  for (const option of options) {
    const { at, name: word } = option;
    if (!EXE_OPTIONS.includes(word)) throw new SyntaxFailure(`\`${word}\` is not an option of a function`, { at, hint: hintFor(word) });
    if (seen.has(word)) throw new SyntaxFailure(`The option \`${word}\` is given twice`, { at, hint: 'leave one of them out' });
    seen.add(word);
  }
}

function hintFor(word: string): string {
  if (word === 'guards') return 'it belongs to a call: `@f(…) with { guards: false }`';
  const near = closest(word, EXE_OPTIONS);
  return near === undefined ? `the options are ${EXE_OPTIONS.map((option) => `\`${option}\``).join(', ')}` : `did you mean \`${near}\`?`;
}
