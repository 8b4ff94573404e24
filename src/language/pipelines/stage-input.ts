/**
 * Prepares the input of a stage: code in `js`, `node` and `py` receives data where the text is JSON, and so do loops, which could do
 * nothing with a text. control.md 19.2.
 */
import { Annotated, annotate, dataOf, flow, type Data, type Value } from '../../values/value.js';
import type { Executable } from '../../runtime/definitions/executable.js';
import { parseStructure } from '../../values/formats/json-text.js';

const DATA = /^\s*(?:[{[]|-?\d+(?:\.\d+)?\s*$|true\s*$|false\s*$)/;

export function stageInput(callee: Executable, input: Value): Value {
  const data = dataOf(input);
  if (typeof data !== 'string') return input;
  const read = readBy(callee, data);
  if (read === undefined) return input;
  const parsed = annotate(read, { text: data });
  return input instanceof Annotated ? flow(parsed, [input]) : parsed;
}

function readBy({ body }: Executable, text: string): Data | undefined {
  if (body.kind === 'for' || body.kind === 'foreach') return parseStructure(text) ?? parseStructure(withoutControlCharacters(text));
  if (body.kind !== 'code' || !['js', 'node', 'py'].includes(body.language) || !DATA.test(text)) return undefined;
  try {
    return JSON.parse(text) as Data;
  } catch {
    return undefined;
  }
}

/** Escapes the line ends, tabs and the like that the `echo` of a shell makes inside the texts of JSON. */
function withoutControlCharacters(text: string): string {
  return text.replace(/"(?:[^"\\]|\\.)*"/gs, (written) => written.replace(CONTROL, (character) => JSON.stringify(character).slice(1, -1)));
}

// oxlint-disable-next-line no-control-regex -- they are what is looked for
const CONTROL = /[\u0000-\u001f]/g;
