/**
 * Makes syntax highlighting for editors, in the TextMate format, from the one list of words. It only colours; mistakes are reported by
 * `mlld validate`.
 */
import { reservedNames, statementWords, transformerNames } from './keywords.js';

interface Rule {
  readonly name?: string;
  readonly match?: string;
  readonly begin?: string;
  readonly end?: string;
  readonly beginCaptures?: { readonly [group: string]: { readonly name: string } };
  readonly contentName?: string;
  readonly patterns?: readonly (Rule | { readonly include: string })[];
}

export interface TextMateGrammar {
  readonly name: string;
  readonly scopeName: string;
  readonly fileTypes: readonly string[];
  readonly patterns: readonly { readonly include: string }[];
  readonly repository: { readonly [name: string]: Rule | { readonly patterns: readonly Rule[] } };
}

const CONTROL = ['else', 'in', 'until', 'while', 'parallel', 'first', 'none', 'denied', 'skip', 'retry', 'pass', 'allow', 'deny', 'before', 'after', 'always', 'with', 'as', 'from', 'to', 'template', 'endless', 'new', 'nodejs', 'privileged']; // prettier-ignore
/** These are words only behind `import`; elsewhere they may be labels and keys. */
const IMPORT_TYPES = ['static', 'templates', 'live', 'cached', 'module', 'local'];
/** The languages of code blocks, and the scope that an editor may know them by. */
const LANGUAGES = { js: 'source.js', javascript: 'source.js', node: 'source.js', py: 'source.python', python: 'source.python', sh: 'source.shell', bash: 'source.shell', cmd: 'source.shell' }; // prettier-ignore

const words = (list: readonly string[]): string => `\\b(?:${list.join('|')})\\b`;
const NAME = '[A-Za-z_](?:[A-Za-z0-9_]|-(?=[A-Za-z0-9_]))*';

export function textMateGrammar(): TextMateGrammar {
  const inText = [{ include: '#escapes' }, { include: '#references' }];
  return {
    name: 'mlld',
    scopeName: 'source.mlld',
    fileTypes: ['mld'],
    patterns: ['comments', 'code', 'strings', 'loads', 'keywords', 'numbers', 'references', 'operators'].map((rule) => ({
      include: `#${rule}`,
    })),
    repository: {
      comments: {
        patterns: [
          { name: 'comment.line.mlld', match: '(?:^|(?<=\\s))(?:>>|<<)(?:\\s.*|$)' },
          { name: 'comment.line.mlld', match: '^\\s*#.*$' },
        ],
      },
      code: { patterns: Object.entries(LANGUAGES).map(([word, scope]) => codeBlock(word, scope)) },
      strings: {
        patterns: [
          {
            name: 'string.quoted.triple.mlld',
            begin: ':::',
            end: ':::',
            patterns: [{ name: 'variable.other.mlld', match: `\\{\\{\\s*${NAME}[^}]*\\}\\}` }],
          },
          { name: 'string.quoted.other.mlld', begin: '::', end: '::', patterns: inText },
          {
            name: 'string.template.mlld',
            begin: '`',
            end: '`',
            patterns: [...inText, { name: 'keyword.control.mlld', match: '^/(?:for|end)\\b' }],
          },
          { name: 'string.quoted.double.mlld', begin: '"', end: '"|$', patterns: inText },
          { name: 'string.quoted.single.mlld', begin: "'", end: "'", patterns: [{ include: '#escapes' }] },
        ],
      },
      escapes: { name: 'constant.character.escape.mlld', match: '\\\\.|@@' },
      loads: { name: 'string.unquoted.path.mlld', match: '<[^<>\\n]*[.*@][^<>\\n]*>\\??' },
      keywords: {
        patterns: [
          { name: 'keyword.control.mlld', match: `^\\s*/?${words(statementWords)}` },
          { name: 'keyword.control.mlld', match: `\\bimport\\s+${words(IMPORT_TYPES)}` },
          { name: 'keyword.control.mlld', match: '^(?:resume|budget)(?=\\s*:)' },
          { name: 'keyword.control.mlld', match: words([...statementWords, ...CONTROL]) },
          { name: 'constant.language.mlld', match: words(['true', 'false', 'null']) },
          { name: 'entity.other.attribute-name.mlld', match: '\\bop:[\\w:-]+' },
        ],
      },
      numbers: { name: 'constant.numeric.mlld', match: '(?<![\\w@.])-?\\d+(?:\\.\\d+)?(?:ms|[smhdw]|usd|[kM]?tok)?\\b' },
      references: {
        patterns: [
          { name: 'variable.language.mlld', match: `@${words(reservedNames)}` },
          { name: 'support.function.mlld', match: `@${words(transformerNames)}` },
          { name: 'entity.name.function.mlld', match: `@${NAME}(?=\\()` },
          { name: 'variable.other.mlld', match: `@${NAME}` },
        ],
      },
      operators: { name: 'keyword.operator.mlld', match: '=>|\\+=|[!=~<>]=|&&|\\|\\|?|\\?\\?|[=<>!?+*/%|-]' },
    },
  };
}

function codeBlock(word: string, scope: string): Rule {
  return {
    begin: `\\b(${word})\\b(?::[^\\s{]+)?\\s*(?:\\([^)]*\\)\\s*)?\\{`,
    beginCaptures: { 1: { name: 'support.type.mlld' } },
    end: '\\}',
    contentName: `meta.embedded.block ${scope}`,
    patterns: [{ begin: '\\{', end: '\\}', patterns: [{ include: scope }] }, { include: scope }],
  };
}
