/** The state of following imports, and the report of a broken one. */
import type { Exe } from '../../../grammar/ast.js';
import type { Exports } from '../exports.js';
import type { LocatedFinding } from '../located-finding.js';
import type { ParsedScript, Violation } from '../rule.js';
import type { Declaration } from '../static-scope.js';
import type { TemplateUse } from './template-names.js';
import type { ParsedTemplate, Workspace } from './workspace.js';

export interface LinkState {
  readonly workspace: Workspace;
  readonly found: LocatedFinding[];
  /** Holds the exports of the checked files by absolute path. */
  readonly exports: Map<string, Exports>;
  /** Maps imported names to their functions. */
  readonly imported: Map<Declaration, Exe>;
  /** Holds the exports of modules that are imported as a whole. */
  readonly namespaces: Map<Declaration, { readonly exports: Exports; readonly written: string }>;
  /** Holds templates and their functions by absolute path. */
  readonly templates: Map<string, { readonly file: ParsedTemplate; readonly uses: TemplateUse[] }>;
  /** Maps checkpoints, hooks and guards (`hook @watch`), whose names are unique in a run, to their first position: `FILE:LINE`. */
  readonly named: Map<string, string>;
}

export function report({ found }: LinkState, file: ParsedScript, violation: Violation): void {
  found.push({ list: 'errors', code: 'unresolvable', file, violation });
}
