/** What is known while imports are followed, and how something wrong with one is noted. */
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
  /** Of the files that have been looked at, by absolute path. */
  readonly exports: Map<string, Exports>;
  /** The functions behind imported names. */
  readonly imported: Map<Declaration, Exe>;
  /** What the modules export that are imported as a whole. */
  readonly namespaces: Map<Declaration, { readonly exports: Exports; readonly written: string }>;
  /** By absolute path. */
  readonly templates: Map<string, { readonly file: ParsedTemplate; readonly uses: TemplateUse[] }>;
  /** Checkpoints, hooks and guards (`hook @watch`), whose names are one set in a run, and where each is first: `FILE:LINE`. */
  readonly named: Map<string, string>;
}

export function report({ found }: LinkState, file: ParsedScript, violation: Violation): void {
  found.push({ list: 'errors', code: 'unresolvable', file, violation });
}
