/** Lines and columns of a running module; only messages and call sites ask. */
import { locate } from '../../grammar/parse.js';
import type { Module } from './frame.js';

export function positionOf(module: Module, at: number): { readonly line: number; readonly column: number } {
  return locate(module.text, at);
}

/** `llm/run/job.mld:12:9` */
export function siteOf(module: Module, at: number): string {
  const { line, column } = positionOf(module, at);
  return `${module.display}:${line}:${column}`;
}
