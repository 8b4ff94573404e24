/** A rule of `mlld validate`: its inputs and its results. A rule reads one parsed file and nothing else. */
import type { Script } from '../../grammar/ast.js';
import type { ResolverPrefix } from '../world/files/resolver-prefix.js';
import type { Symbols } from './symbols.js';

export interface ParsedScript {
  /** Is the path that messages show. */
  readonly display: string;
  readonly absolute: string;
  readonly text: string;
  readonly script: Script;
  readonly symbols: Symbols;
}

export interface Violation {
  readonly at: number;
  readonly message: string;
  /** Is a name without `@`. */
  readonly variable?: string;
  readonly hint?: string;
  readonly excerpt?: string;
  /** Is true in a place that a run may never reach: the finding of a rule about errors is a warning there. */
  readonly isUnsure?: boolean;
}

export interface RuleSettings {
  readonly prefixes: readonly Pick<ResolverPrefix, 'prefix'>[];
}

export interface Rule {
  /** Identifies the rule in `validate.suppressWarnings` and in the JSON report. */
  readonly code: string;
  /** Is the list of the report that gets its findings. */
  readonly list: 'errors' | 'warnings' | 'antiPatterns' | 'redefinitions';
  check(file: ParsedScript, settings: RuleSettings): Iterable<Violation>;
}
