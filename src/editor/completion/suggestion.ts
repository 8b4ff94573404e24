/** One thing that may be written at a place, as an editor lists it. */
import type { Expression } from '../../../grammar/ast.js';
import type { Declaration } from '../../validate/static-scope.js';

export interface Suggestion {
  readonly label: string;
  readonly kind: 'variable' | 'function' | 'field' | 'method' | 'option' | 'keyword';
  readonly detail?: string;
}

const SHORT = 60;

export function suggestionFor({ name, kind, exe, import: imported, value }: Declaration): Suggestion {
  if (exe) {
    const params = exe.params.map((param) => param.name).join(', ');
    return { label: name, kind: 'function', detail: `(${params})${exe.labels.length > 0 ? ` [${exe.labels.join(', ')}]` : ''}` };
  }
  const detail = imported ? `from ${imported.written}` : kind === 'param' ? 'parameter' : kind === 'loop' ? 'item' : brief(value);
  return { label: name, kind: 'variable', ...(detail !== undefined && { detail }) };
}

function brief(value: Expression | undefined): string | undefined {
  if (value?.kind === 'literal') return JSON.stringify(value.value).slice(0, SHORT);
  return value?.kind === 'array' || value?.kind === 'object' ? value.kind : undefined;
}
