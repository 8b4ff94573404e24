/** Finds options behind a value that nothing reads: `@f(1) with { steam: true }`. An unknown one of a function is a syntax error. */
import { closest } from '../../../grammar/closest.js';
import type { With } from '../../../grammar/ast.js';
import { CALL_OPTIONS } from '../../../grammar/mlld/build/exe-options.js';
import { eachNode } from '../each-node.js';
import type { Rule, Violation } from '../rule.js';

/** Lists what a `with` behind a value may hold. control.md 12, 19 and 23, instrumentation.md 4.6. */
const VALUE_OPTIONS = ['pipeline', 'stdin', 'stream', 'streamFormat', 'parallel', 'delay', 'format', 'guards', 'separator', 'template'];

export const unknownOptionsRule: Rule = {
  code: 'unknown-option',
  list: 'warnings',
  check({ script }) {
    const found: Violation[] = [];
    eachNode(script.statements, (node) => {
      if (node.kind !== 'with') return;
      for (const { name, at } of (node as With).options) {
        if (!VALUE_OPTIONS.includes(name))
          found.push({ at, message: `\`${name}\` is no option of a value, and has no effect`, hint: hintFor(name) });
      }
    });
    return found;
  },
};

function hintFor(name: string): string {
  if ((CALL_OPTIONS as readonly string[]).includes(name))
    return `write it behind the function: \`exe llm @name(…) = … with { ${name}: … }\``;
  const near = closest(name, VALUE_OPTIONS);
  return near === undefined ? `the options are ${VALUE_OPTIONS.join(', ')}` : `did you mean \`${near}\`?`;
}
