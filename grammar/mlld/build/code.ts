/** Builds bodies in other languages. */
import type { Code, Language, Literal, Template, TemplatePart } from '../../ast.js';
import { shellOperator } from '../../mistakes/mlld/code.js';
import type { ErrorContext } from '../../mistakes/mlld/error-context.js';
import { placed } from './shell-places.js';
import { type Loose, parts } from './text.js';

export function code(
  at: number,
  language: Language,
  loose: readonly Loose[],
  { directory, variables }: { readonly directory?: readonly Loose[] | null; readonly variables?: readonly string[] | null } = {},
): Code {
  const text = language === 'cmd' ? placed(parts(loose)) : parts(loose);
  return {
    ...codeOf(at, language, text),
    ...(directory ? { directory: parts(directory) } : {}),
    ...(variables ? { variables } : {}),
  };
}

function codeOf(at: number, language: Language, text: readonly TemplatePart[]): Code {
  return { kind: 'code', at, language, text: text.length ? text : [{ kind: 'text', text: '' }] };
}

/** `run "…"`: the text is a shell line. */
export function commandText(source: Template | Literal, spot: ErrorContext): Code {
  if (source.kind === 'literal') return codeOf(source.at, 'cmd', [{ kind: 'text', text: String(source.value) }]);
  const operators = (rest: string): void => void shellOperator({ ...spot, at: source.at }, rest);
  return codeOf(source.at, 'cmd', placed(source.parts, operators));
}
