/** Reads and writes the YAML block at the head of a file, and YAML texts (world.md 9 and 12.3, values.md 2.6). */
import { messageOf, MlldError } from '../../errors.js';
import { fromHost, toJson } from '../native.js';
import { dataOf, type Data, type Value } from '../value.js';

export interface Frontmatter {
  /** The text between the two `---` lines. */
  readonly yaml: string;
  /** The text behind the second `---` line. */
  readonly body: string;
  /** The offset of `body`, in UTF-16 units. */
  readonly bodyAt: number;
}

/** Returns undefined when the text does not begin with a closed block. */
export function splitFrontmatter(text: string): Frontmatter | undefined {
  const start = text.startsWith('\uFEFF') ? 1 : 0;
  if (!text.startsWith('---', start)) return undefined;
  const yamlAt = afterRule(text, start);
  if (yamlAt === undefined) return undefined;
  for (let at = yamlAt; at < text.length; at = afterLine(text, at)) {
    if (!text.startsWith('---', at)) continue;
    const bodyAt = afterRule(text, at);
    if (bodyAt !== undefined) return { yaml: text.slice(yamlAt, at), body: text.slice(bodyAt), bodyAt };
  }
  return undefined;
}

/** Returns the start of the next line, when the line at `at` is `---` and blanks. */
function afterRule(text: string, at: number): number | undefined {
  const next = afterLine(text, at);
  return text.slice(at + 3, next).trim() === '' ? next : undefined;
}

function afterLine(text: string, at: number): number {
  const end = text.indexOf('\n', at);
  return end === -1 ? text.length : end + 1;
}

/** Reads with the types of YAML, but dates as texts, and an empty text as null. Throws MlldError INVALID_YAML. */
export async function parseYaml(text: string): Promise<Data> {
  return parseWith(text, 'core');
}

/** Reads the frontmatter of a script: every scalar is a text, an empty value null. Throws MlldError INVALID_YAML. */
export async function parseScriptFrontmatter(text: string): Promise<Data> {
  return parseWith(text, 'failsafe');
}

async function parseWith(text: string, schema: 'core' | 'failsafe'): Promise<Data> {
  const { parseDocument, isScalar, visit } = await import('yaml');
  const document = parseDocument(text, { schema });
  const [error] = document.errors;
  if (error) throw invalidYaml(error);
  if (schema === 'failsafe') {
    visit(document, {
      Scalar: (place, node) => {
        const isEmpty = place !== 'key' && isScalar(node) && node.type === 'PLAIN' && node.value === '';
        if (isEmpty) (node as { value: unknown }).value = null;
      },
    });
  }
  try {
    return dataOf(fromHost(document.toJS())) ?? null;
  } catch (error) {
    throw invalidYaml(error); // an alias that is not defined, or too many of them
  }
}

function invalidYaml(error: unknown): MlldError {
  const [reason = ''] = messageOf(error).split('\n');
  return new MlldError('INVALID_YAML', `Invalid YAML: ${reason.replace(/( at line \d+, column \d+)?:?$/, '')}`, { cause: error });
}

/** Returns the offset of the error in the text, in UTF-16 units. */
export function yamlErrorAt(error: MlldError): number {
  const { pos } = (error.cause ?? {}) as { pos?: unknown };
  return Array.isArray(pos) && typeof pos[0] === 'number' ? pos[0] : 0;
}

/** Writes block style, two blanks per level, a line end at the end. */
export async function toYaml(value: Value): Promise<string> {
  const { stringify } = await import('yaml');
  return stringify(toJson(value), { lineWidth: 0 });
}
