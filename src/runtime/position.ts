/** Lines and columns of a running module, for messages and call sites. */
import { locate } from '../../grammar/parse.js';
import type { Module } from './module.js';

export function positionOf(module: Module, at: number): { readonly line: number; readonly column: number } {
  return locate(module.text, at);
}

/** Returns `llm/run/job.mld:12:9`. Cached, because a loop needs the same place in every iteration. */
export function siteOf(module: Module, at: number): string {
  const known = module.sites.get(at);
  if (known !== undefined) return known;
  const { line, column } = positionOf(module, at);
  const site = `${module.display}:${line}:${column}`;
  module.sites.set(at, site);
  return site;
}
