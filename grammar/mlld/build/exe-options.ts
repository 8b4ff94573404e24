/** The options behind the body of a function: `exe llm @draw(name) = … with { writes: […] }`. Control section 3.1, design section 3. */
import { closest } from '../../closest.js';
import { SyntaxFailure } from '../../errors.js';

/** Those that only mean something for calls that are recorded are for functions with the label `llm`. */
const OPTIONS: ReadonlyMap<string, 'any' | 'llm'> = new Map([
  ['pipeline', 'any'],
  ['stdin', 'any'],
  ['stream', 'any'],
  ['streamFormat', 'any'],
  ['parallel', 'any'],
  ['delay', 'any'],
  ['format', 'any'],
  ['description', 'any'],
  ['key', 'llm'],
  ['writes', 'llm'],
]);

interface Named {
  readonly at: number;
  readonly name: string;
}

/** Throws SyntaxFailure: what is not understood must not be passed over in silence. */
export function checkExeOptions(name: string, labels: readonly string[], options: readonly Named[]): void {
  const seen = new Set<string>();
  for (const option of options) {
    const { at, name: word } = option;
    const place = OPTIONS.get(word);
    if (place === undefined) throw new SyntaxFailure(`\`${word}\` is no option of a function`, { at, hint: hintFor(word) });
    if (seen.has(word)) throw new SyntaxFailure(`The option \`${word}\` is given twice`, { at, hint: 'leave one of them out' });
    if (place === 'llm' && !labels.includes('llm')) {
      throw new SyntaxFailure(`\`${word}\` is for functions with the label llm: the calls of others are not recorded`, {
        at,
        hint: `exe ${['llm', ...labels].join(', ')} @${name}`,
      });
    }
    seen.add(word);
  }
}

function hintFor(word: string): string {
  if (word === 'guards') return 'it belongs to a call: `@f(…) with { guards: false }`';
  const all = [...OPTIONS.keys()];
  const near = closest(word, all);
  return near === undefined ? `the options are ${all.map((option) => `\`${option}\``).join(', ')}` : `did you mean \`${near}\`?`;
}
