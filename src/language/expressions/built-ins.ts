/** Built-in functions and transformers as callable values. values.md 11.3 and 12. */
import { Callable } from '../../values/kinds/callable.js';
import { findTransformer, type Transformer } from '../../values/methods/transformers.js';

export class BuiltIn extends Callable {
  readonly params = ['value'];
  readonly labels = [];
  constructor(
    readonly name: string,
    readonly apply: Transformer,
  ) {
    super();
  }
}

/** Finds a function by its name as written, without the at sign: `upper`, `parse.llm`. */
export function builtIn(name: string): BuiltIn | undefined {
  const transformer = findTransformer(name);
  return transformer && new BuiltIn(name, transformer);
}
