/** What a rule is given, and what it says. A rule looks at one file and asks nobody. */
import type { Script } from '../../grammar/ast.js';
import type { ResolverPrefix } from '../world/files/resolver-prefix.js';
import type { Symbols } from './symbols.js';

export interface ParsedScript {
  /** As messages show it. */
  readonly display: string;
  readonly absolute: string;
  readonly text: string;
  readonly script: Script;
  readonly symbols: Symbols;
}

export interface Violation {
  readonly at: number;
  readonly message: string;
  /** Without `@`. */
  readonly variable?: string;
  readonly hint?: string;
}

export interface RuleSettings {
  readonly prefixes: readonly Pick<ResolverPrefix, 'prefix'>[];
}

export interface Rule {
  /** What `validate.suppressWarnings` and the JSON report call it. */
  readonly code: string;
  /** The list of the report it belongs to: errors, warnings about names, other warnings, notes. */
  readonly list: 'errors' | 'warnings' | 'antiPatterns' | 'redefinitions';
  check(file: ParsedScript, settings: RuleSettings): Iterable<Violation>;
}
