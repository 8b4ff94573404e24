/** Prepares the input of a stage: code in `js`, `node` and `py` receives data where the text is JSON. control.md 19.2. */
import { Annotated, annotate, dataOf, flow, type Data, type Value } from '../../values/value.js';
import type { Executable } from '../../runtime/definitions/executable.js';

const DATA = /^\s*(?:[{[]|-?\d+(?:\.\d+)?\s*$|true\s*$|false\s*$)/;

export function stageInput(callee: Executable, input: Value): Value {
  const language = callee.body.kind === 'code' ? callee.body.language : undefined;
  const data = dataOf(input);
  if (typeof data !== 'string' || (language !== 'js' && language !== 'node' && language !== 'py') || !DATA.test(data)) return input;
  try {
    const parsed = annotate(JSON.parse(data) as Data, { text: data });
    return input instanceof Annotated ? flow(parsed, [input]) : parsed;
  } catch {
    return input;
  }
}
