/** Resolves paths that don't depend on a run: text, after `@root`, `@base` or a resolver prefix. world.md 4. */
import path from 'node:path';
import type { Literal, Template, TemplatePart } from '../../grammar/ast.js';
import { resolvePrefix, type ResolverPrefix } from '../world/files/resolver-prefix.js';

export interface PathSettings {
  readonly projectRoot: string;
  readonly prefixes: readonly ResolverPrefix[];
}

/** Returns the text of a path in quotes; undefined when it holds variables. */
export function staticText(node: Template | Literal): string | undefined {
  return node.kind === 'literal' ? String(node.value) : textOfParts(node.parts);
}

/** Returns an absolute path; undefined when it depends on a run. */
export function resolveStatic(parts: readonly TemplatePart[], directory: string, settings: PathSettings): string | undefined {
  const [first, ...others] = parts;
  if (first?.kind !== 'hole') {
    const text = textOfParts(parts);
    return text === undefined ? undefined : (resolveName(text, settings) ?? path.resolve(directory, text));
  }
  const rest = textOfParts(others);
  const { name, steps } = first.value;
  if (rest === undefined || steps.length > 0 || first.pipes.length > 0) return undefined;
  if (name === 'root' || name === 'base') return path.join(settings.projectRoot, rest);
  return resolveName(`@${name}${rest}`, settings);
}

/** Resolves `@lib/tools` by a resolver prefix. */
export function resolveName(text: string, { prefixes }: PathSettings): string | undefined {
  const found = resolvePrefix(text, prefixes);
  return found && path.resolve(found.root, found.rest);
}

export function partsOf(node: Template | Literal): readonly TemplatePart[] {
  return node.kind === 'literal' ? [{ kind: 'text', text: String(node.value) }] : node.parts;
}

function textOfParts(parts: readonly TemplatePart[]): string | undefined {
  const texts = parts.map((part) => (part.kind === 'text' ? part.text : undefined));
  return texts.includes(undefined) ? undefined : texts.join('');
}
