/** Bodies in other languages. */
import type { Code, Language, Literal, Template, TemplatePart } from '../../ast.js';
import { shellOperator } from '../slips/code.js';
import type { Spot } from '../slips/spot.js';
import { type Loose, parts } from './text.js';

export function code(
  at: number,
  language: Language,
  loose: readonly Loose[],
  directory?: readonly Loose[] | null,
  variables?: readonly string[] | null,
): Code {
  const text = parts(loose);
  return {
    kind: 'code',
    at,
    language,
    text: text.length ? text : [{ kind: 'text', text: '' }],
    ...(directory ? { directory: parts(directory) } : {}),
    ...(variables ? { variables } : {}),
  };
}

/** `run "…"`: the text is a shell line, so its holes have to know whether they stand in quotes. */
export function commandText(source: Template | Literal, spot: Spot): Code {
  if (source.kind === 'literal') return code(source.at, 'cmd', [{ kind: 'text', text: String(source.value) }]);
  let quoting: 'bare' | 'single' | 'double' = 'bare';
  const text = source.parts.map((part): TemplatePart => {
    if (part.kind === 'hole' && quoting === 'single') return { kind: 'text', text: part.written };
    if (part.kind === 'hole') return { ...part, quoting: quoting === 'double' ? 'double' : 'bare' };
    if (part.kind !== 'text') return part;
    for (let i = 0; i < part.text.length; i++) {
      const c = part.text[i];
      if (c === '\\' && quoting !== 'single') i++;
      else if (c === "'" && quoting !== 'double') quoting = quoting === 'single' ? 'bare' : 'single';
      else if (c === '"' && quoting !== 'single') quoting = quoting === 'double' ? 'bare' : 'double';
      else if (quoting === 'bare') shellOperator({ ...spot, at: source.at }, part.text.slice(i));
    }
    return part;
  });
  return code(source.at, 'cmd', text);
}
