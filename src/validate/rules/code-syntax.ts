/** Finds `js` and `node` bodies that will not compile: a run would reach them after it has paid for calls. control.md 5.5. */
import type { Code, Exe } from '../../../grammar/ast.js';
import { codeFrame } from '../../../grammar/parse.js';
import { offsetInText, syntaxErrorOf } from '../../world/code/place-in-body.js';
import type { Rule, Violation } from '../rule.js';
import type { SomeNode } from '../each-node.js';

/** Most scripts have no such body, and are not walked through. */
const MAY_HAVE_CODE = /\b(?:js|javascript|node)\b/;

export const codeSyntaxRule: Rule = {
  code: 'code-syntax',
  list: 'errors',
  *check({ text, script }) {
    if (!MAY_HAVE_CODE.test(text)) return;
    const found: Violation[] = [];
    eachBody(script.statements, [], (node, parameters) => {
      const violation = violationOf(node, parameters, text);
      if (violation) found.push(violation);
    });
    yield* found;
  },
};

/** Calls `look` with each `js` and `node` body, and the names that the function around it has as parameters. */
function eachBody(part: unknown, parameters: readonly string[], look: (node: Code, parameters: readonly string[]) => void): void {
  if (typeof part !== 'object' || part === null) return;
  const { kind } = part as SomeNode;
  if (kind === 'code') {
    const node = part as Code;
    if (node.language === 'js' || node.language === 'node') look(node, node.variables ?? parameters);
    eachBody(node.stdin, parameters, look);
    return;
  }
  const known = kind === 'exe' ? (part as Exe).params.map(({ name }) => name) : parameters;
  for (const child of Object.values(part)) eachBody(child, known, look);
}

function violationOf(node: Code, parameters: readonly string[], text: string): Violation | undefined {
  const code = node.text.map((part) => (part.kind === 'text' ? part.text : '')).join('');
  const refusal = syntaxErrorOf(code, parameters);
  if (refusal === undefined) return undefined;
  const [, name] = /@([A-Za-z_]\w*)/.exec(code) ?? [];
  const hint = `in code a name has no at sign: write \`${name}\` for a parameter, or list a variable: \`${node.language} (@${name}) { … }\``;
  const at = (refusal.place && offsetInText(refusal.place, { code, text, from: node.at })) ?? node.at;
  return {
    at,
    message: `this \`${node.language}\` code does not compile: ${refusal.message}`,
    excerpt: codeFrame(text, at),
    ...(name !== undefined && { hint }),
  };
}
