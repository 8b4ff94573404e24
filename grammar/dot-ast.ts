/**
 * The tree of a pipeline file (`.dot`), and of the two small languages inside its strings: conditions and stylesheets.
 *
 * The tree is what was written, in order, with its scopes; its meaning (defaults, classes, edges in pairs) is worked
 * out in `src/pipeline`. Every `at` is an offset into the text that was parsed (UTF-16 units): for a condition or a
 * stylesheet into that text, and `offsetInSource` of `parse-dot.ts` leads back into the file.
 */

interface At {
  readonly at: number;
}

// ---------------------------------------------------------------- pipeline

export interface Pipeline extends At {
  readonly kind: 'pipeline';
  /** The identifier behind `digraph`. */
  readonly name: string;
  readonly statements: readonly GraphStatement[];
}

export type GraphStatement = DefaultsStatement | AssignmentStatement | SubgraphStatement | NodeStatement | EdgeStatement;

/** `graph [...]`, `node [...]`, `edge [...]` */
export interface DefaultsStatement extends At {
  readonly kind: 'defaults';
  readonly of: 'graph' | 'node' | 'edge';
  readonly attributes: readonly Attribute[];
}

/** `key = value`, which says the same as `graph [key=value]`. */
export interface AssignmentStatement extends At {
  readonly kind: 'assignment';
  readonly attribute: Attribute;
}

export interface SubgraphStatement extends At {
  readonly kind: 'subgraph';
  readonly name?: string;
  readonly statements: readonly GraphStatement[];
}

export interface NodeStatement extends At {
  readonly kind: 'node';
  readonly id: string;
  readonly attributes: readonly Attribute[];
}

/** `a -> b -> c [...]`: at least two ends, an edge for each pair. */
export interface EdgeStatement extends At {
  readonly kind: 'edge';
  readonly ends: readonly EdgeEnd[];
  readonly attributes: readonly Attribute[];
}

export interface EdgeEnd extends At {
  readonly id: string;
}

/** `at` is that of the key. */
export interface Attribute extends At {
  /** The key without quotes. */
  readonly key: string;
  readonly value: AttributeValue;
}

/** A value as it was written. `text` is a string with its escapes resolved, and otherwise the source itself. */
export interface AttributeValue extends At {
  readonly kind: 'string' | 'integer' | 'float' | 'boolean' | 'duration' | 'word';
  readonly text: string;
}

// ---------------------------------------------------------------- conditions

/** All clauses must hold. */
export interface Condition extends At {
  readonly kind: 'condition';
  readonly clauses: readonly Clause[];
}

export interface Clause extends At {
  readonly key: ConditionKey;
  readonly operator: '=' | '!=';
  /** A string without its quotes, and otherwise the literal as it was written. */
  readonly literal: string;
}

/** `name` is the text behind `context.`. */
export type ConditionKey =
  { readonly of: 'outcome' } | { readonly of: 'preferred_label' } | { readonly of: 'context'; readonly name: string };

// ---------------------------------------------------------------- stylesheet

export interface Stylesheet extends At {
  readonly kind: 'stylesheet';
  readonly rules: readonly StyleRule[];
}

export interface StyleRule extends At {
  readonly selector: StyleSelector;
  readonly declarations: readonly StyleDeclaration[];
}

export type StyleSelector =
  | { readonly kind: 'all' }
  | { readonly kind: 'shape'; readonly name: string }
  | { readonly kind: 'class'; readonly name: string }
  | { readonly kind: 'id'; readonly name: string };

export type StyleProperty = 'llm_model' | 'llm_provider' | 'reasoning_effort';

export interface StyleDeclaration extends At {
  readonly property: StyleProperty;
  readonly value: string;
}
