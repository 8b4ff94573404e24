/** Names what the generated parser expected at a place, in the few words that a message has room for. */

/** One thing that the generated parser would have read. */
export interface Expectation {
  readonly type: string;
  readonly text?: string;
  readonly description?: string;
}

/** A message names at most so many alternatives. */
const ALTERNATIVES_MAX = 5;

/** Tokens that stand for one idea wherever all of `signs` are expected: then the words of `members` are not listed. */
const groups: readonly { readonly name: string; readonly signs: readonly string[]; readonly members: ReadonlySet<string> }[] = [
  {
    name: 'a value',
    signs: ['`[`', '`{`', '`true`', '`null`'],
    members: new Set(
      quoted(
        '! @ " \' ` ::: :: ( [ { true false null when foreach for loop run new denied stream cmd sh bash javascript js node py python',
      ).concat('a number', 'a string', 'a file'),
    ),
  },
  {
    name: 'an operator',
    signs: ['`&&`', '`==`'],
    members: new Set(quoted('&& || ?? <= >= < > == != ~= !~= ?')),
  },
  { name: 'a language', signs: ['`js`', '`python`'], members: new Set(quoted('javascript js nodejs node py python sh bash cmd')) },
];

function quoted(tokens: string): string[] {
  return tokens.split(' ').map((token) => `\`${token}\``);
}

/** Returns the alternatives as a list, `a name, `,` or `}``; undefined where there are none, or too many to be of use. */
export function alternatives(expected: readonly Expectation[]): string | undefined {
  const names = new Set(expected.flatMap(nameOf));
  const ideas = groups.flatMap(({ name, signs, members }) => {
    if (!signs.every((sign) => names.has(sign))) return [];
    for (const member of members) names.delete(member);
    return [name];
  });
  const tokens = [...names].toSorted((a, b) => Number(a.startsWith('`')) - Number(b.startsWith('`')));
  const all = [...ideas, ...tokens];
  if (all.length === 0 && expected.some(({ description }) => description === 'blank')) return 'a blank';
  if (all.length === 0 || all.length > ALTERNATIVES_MAX) return undefined;
  return all.length === 1 ? all[0] : `${all.slice(0, -1).join(', ')} or ${all.at(-1)}`;
}

function nameOf({ type, text, description }: Expectation): string[] {
  if (type === 'literal' && text?.trim()) return [`\`${text}\``];
  if (type === 'other' && description && !/blank|line end|comment/.test(description)) return [`a ${description}`];
  return [];
}
