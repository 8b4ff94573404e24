/** Finds the variables of a code block. control.md 5.1 to 5.4. */
import type { Code } from '../../../grammar/ast.js';
import { MlldError } from '../../errors.js';
import { locationOf } from '../../runtime/errors.js';
import type { Frame } from '../../runtime/frame.js';
import type { Scope } from '../../runtime/scope.js';
import { textOf } from '../../values/text.js';
import type { Value } from '../../values/value.js';

export interface Variable {
  readonly name: string;
  readonly value: Value;
}

/** Returns the listed variables; without a list, the parameters of the enclosing function. */
export function variablesFor(node: Code, frame: Frame): Variable[] {
  if (node.variables) return node.variables.map((name) => ({ name, value: frame.scope.find(name)?.value }));
  const scope = functionScope(frame.scope);
  const params = scope ? (frame.stack?.executable.params ?? []) : [];
  return params.map((name) => {
    const binding = scope?.own(name);
    // A parameter without an argument does not hide the context of the pipeline from the script; code sees the empty text.
    return { name, value: binding?.kind === 'ambient' ? '' : binding?.value };
  });
}

export function functionScope(scope: Scope): Scope | undefined {
  for (let at: Scope | undefined = scope; at; at = at.parent) if (at.kind === 'function') return at;
  return undefined;
}

/**
 * Returns the variables of a `cmd`: those of its list, or the parameters of the function whose body it is and that it mentions. A value
 * that the shell computes with has to be a whole number (decision 0042). Throws SHELL_NUMBER.
 */
export function shellVariablesFor(node: Code, frame: Frame): Variable[] {
  if (!node.variables && frame.bodyCode !== node) return [];
  const source = node.text.map((part) => (part.kind === 'text' ? part.text : ' ')).join('');
  const used = variablesFor(node, frame).filter(({ name, value }) => value !== undefined && (node.variables || isMentioned(name, source)));
  const computed = COMPUTED.flatMap((place) => [...source.matchAll(place)].map(([text]) => text)).join(' ');
  for (const { name, value } of used) {
    if (new RegExp(`\\b${name}\\b`).test(computed) && !/^\s*[-+]?\d+\s*$/.test(textOf(value))) throw notANumber(name, node, frame);
  }
  return used;
}

/** True where the text expands the variable, or is code that looks into its environment. Names that rule the shell itself are left out. */
function isMentioned(name: string, source: string): boolean {
  if (RULING.test(name) || !/^[A-Za-z_]\w*$/.test(name)) return false;
  if (new RegExp(`\\$\\{?[#!]?${name}\\b`).test(source)) return true;
  return /environ|getenv|\bENV\b|\benv\b/.test(source) && new RegExp(`\\b${name}\\b`).test(source);
}

const RULING = /^(?:PATH|IFS|ENV|BASH_ENV|SHELLOPTS|BASHOPTS|PS4|CDPATH|GLOBIGNORE|LD_\w+|DYLD_\w+|NODE_OPTIONS|PYTHON\w+|PERL5?\w+)$/;

/** The places where a shell computes: `$((…))`, `((…))`, `$[…]`, `[[ … -eq … ]]`, the index of a list, and the offset in `${x:…}`. */
const COMPUTED = [
  /\(\([^]*?\)\)/g,
  /\$\[[^\]]*\]/g,
  /\[\[\s[^]*?-(?:eq|ne|l[te]|g[te]|[vRo])\s[^]*?\]\]/g,
  /\w\[[^\]]*\]/g,
  /\$\{\w+:[^-=?+}][^}]*\}/g,
];

function notANumber(name: string, node: Code, frame: Frame): MlldError {
  return new MlldError('SHELL_NUMBER', `The shell computes with the value of $${name}, which is not a whole number`, {
    location: locationOf(frame.module, node.at),
    hint: 'compute in `js`, or compare text with `[ … ]`',
  });
}
