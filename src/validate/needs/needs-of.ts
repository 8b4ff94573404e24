/** Reads `needs { … }`: which programs and packages a script names. world.md 11.6. */
import type { NeedsEntry, NeedsValue, Script } from '../../../grammar/ast.js';
import { topLevel } from '../top-level.js';

export type Need =
  | { readonly kind: 'program'; readonly at: number; readonly name: string }
  | { readonly kind: 'node-package'; readonly at: number; readonly name: string }
  /** A package of another language, or a capability: it can't be checked without running something. */
  | { readonly kind: 'unchecked'; readonly at: number; readonly name: string }
  | { readonly kind: 'unknown'; readonly at: number; readonly name: string };

/** Maps each word for a language to the program that runs it; the languages that mlld runs itself have none. */
const LANGUAGES = new Map<string, string | undefined>([
  ...['js', 'javascript', 'node', 'nodejs', 'npm'].map((word) => [word, undefined] as const),
  ...['py', 'python', 'pip'].map((word) => [word, 'python3'] as const),
  ...['rb', 'ruby'].map((word) => [word, 'ruby'] as const),
  ...['sh', 'bash', 'go', 'php', 'perl'].map((word) => [word, word] as const),
  ['rust', 'cargo'],
]);
const PROGRAMS: ReadonlySet<string> = new Set(['cmd', 'cmds', 'commands', 'tools']);
/** Hold languages with their versions or packages. */
const HOLDERS: ReadonlySet<string> = new Set(['packages', 'runtimes']);
const CAPABILITIES: ReadonlySet<string> = new Set(['network', 'net', 'filesystem', 'fs', 'keychain', 'mcp', 'tty']);

/** Is for messages: the words that mean something in `needs`. */
export const NEEDS_WORDS = ['sh', 'bash', 'cmd', 'js', 'node', 'py', 'rb', 'go', 'rust', 'network', 'filesystem', 'packages', 'runtimes'];

/**
 * Returns what all `needs` of a file name, in the order of the source, each name once; `inFrontmatter` are the needs of its frontmatter.
 * A statement that repeats a name of the frontmatter has the more exact place, so that place is kept.
 */
export function needsOf(script: Script, inFrontmatter: readonly NeedsEntry[]): readonly Need[] {
  const written = topLevel(script).flatMap((statement) => (statement.kind === 'needs' ? statement.entries : []));
  const places = new Map<string, Need>();
  for (const need of [...written, ...inFrontmatter].flatMap(needsOfEntry)) {
    const key = `${need.kind} ${need.name}`;
    if (!places.has(key)) places.set(key, need);
  }
  return [...places.values()].toSorted((a, b) => a.at - b.at);
}

function needsOfEntry({ name, at, value }: NeedsEntry): readonly Need[] {
  if (value?.kind === 'word' && value.text === 'false') return [];
  if (PROGRAMS.has(name)) return namesIn(value).map((program) => ({ kind: 'program', ...program }));
  if (HOLDERS.has(name) && value?.kind === 'map') return value.entries.flatMap(needsOfEntry);
  if (HOLDERS.has(name)) return namesIn(value).flatMap((word) => needsOfEntry(word));
  if (CAPABILITIES.has(name)) return [{ kind: 'unchecked', at, name }];
  if (!LANGUAGES.has(name)) return [{ kind: 'unknown', at, name }];
  const program = LANGUAGES.get(name);
  // A word behind the colon is the version of the language: `node: ">=18"`.
  const packages = value?.kind === 'word' ? [] : namesIn(value);
  return [
    ...(program === undefined ? [] : [{ kind: 'program', at, name: program } as const]),
    ...packages.map((each) => ({ kind: program === undefined ? 'node-package' : 'unchecked', ...each }) as const),
  ];
}

/** Returns the names in a list, a map or a word, without their versions. `*` and `true` name nothing. */
function namesIn(value: NeedsValue | undefined): readonly { readonly name: string; readonly at: number }[] {
  switch (value?.kind) {
    case undefined:
      return [];
    case 'list':
      return value.items.flatMap(namesIn);
    case 'map':
      return value.entries.map(({ name, at }) => ({ name: withoutVersion(name), at }));
    case 'word':
      return value.text === '*' || value.text === 'true' ? [] : [{ name: withoutVersion(value.text), at: value.at }];
  }
}

/** `@scope/name@^1.0` is `@scope/name`, `numpy>=1.20` is `numpy`. */
function withoutVersion(text: string): string {
  return /^@?[^@<>=~^!\s]*/.exec(text)?.[0] ?? text;
}
