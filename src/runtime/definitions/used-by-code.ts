/**
 * Finds what code of another language is given beside its parameters: the variables that it lists, and the functions of its environment
 * that it mentions. control.md 5.2 and 7.
 */
import type { Code } from '../../../grammar/ast.js';
import type { Executable } from './executable.js';
import type { Module } from '../module.js';

/** Returns the blocks of code anywhere in a tree. */
export function codeIn(tree: unknown): readonly Code[] {
  const found: Code[] = [];
  const visit = (node: unknown): void => {
    if (typeof node !== 'object' || node === null) return;
    if (Array.isArray(node)) return node.forEach(visit);
    if ((node as { readonly kind?: unknown }).kind === 'code') found.push(node as Code);
    Object.values(node).forEach(visit);
  };
  visit(tree);
  return found;
}

/** Returns the variables that code lists: `sh (@a, @b) { … }`. */
export function listedBy(code: readonly Code[]): readonly string[] {
  return code.flatMap(({ variables = [] }) => variables);
}

/**
 * Returns the functions of the environments of `module` that code can reach: those it mentions, and those that these mention. A parameter
 * or a listed variable hides the function of its name.
 */
export function calledFrom(code: readonly Code[], { shadows }: Pick<Module, 'shadows'>, params: readonly string[]): readonly Executable[] {
  if (shadows.size === 0) return [];
  const found = new Set<Executable>();
  const look = (block: Code, own: readonly string[]): void => {
    const words = wordsOf(block);
    for (const each of shadows.get(block.language) ?? []) {
      if (found.has(each) || !words.has(each.name) || own.includes(each.name)) continue;
      found.add(each);
      if (each.code?.language === block.language) look(each.code, each.params);
    }
  };
  for (const block of code) look(block, block.variables ?? params);
  return [...found];
}

function wordsOf({ text }: Code): ReadonlySet<string> {
  return new Set(text.flatMap((part) => (part.kind === 'text' ? (part.text.match(/[\p{L}_$][\p{L}\p{N}_$]*/gu) ?? []) : [])));
}
