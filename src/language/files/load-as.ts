/** Applies `as`: a template over a loaded file, or another heading for a section. world.md 8. */
import type { FileTextPart, Template, TemplatePart, TextPart } from '../../../grammar/ast.js';
import { mxField, mxObject } from '../../values/metadata.js';
import { isDataObject } from '../../values/plain-object.js';
import { renameHeading } from '../../values/formats/sections.js';
import { textOf } from '../../values/text.js';
import { annotate, dataOf, flow, metadataOf, sourcesOf, type Value } from '../../values/value.js';
import { renderText } from '../../runtime/evaluator-ports.js';
import type { Frame } from '../../runtime/frame.js';

/** Returns the text of the template for this file, with the metadata of the file. */
export async function applyTemplate(template: Template, file: Value, frame: Frame): Promise<Value> {
  const rendered = await renderText(filled(template.parts, file), frame);
  return flow(aboutFile(textOf(rendered), file), [rendered]);
}

/** Returns the section under the heading that the template renders. */
export async function renameSection(template: Template, section: Value, frame: Frame): Promise<Value> {
  const heading = await renderText(filled(template.parts, section), frame);
  return flow(aboutFile(renameHeading(textOf(section), textOf(heading)), section), [heading]);
}

function aboutFile(text: string, from: Value): Value {
  const file = metadataOf(from)?.file;
  return annotate(text, { sources: sourcesOf(from), ...(file ? { file } : {}) });
}

/** Returns the parts with the placeholders for the file replaced, at any depth. */
function filled(parts: readonly TemplatePart[], file: Value): readonly TemplatePart[] {
  return parts.map((part) => {
    switch (part.kind) {
      case 'file-text':
        return { kind: 'text', text: placeholderText(part, file) } satisfies TextPart;
      case 'loop-part':
        return { ...part, body: filled(part.body, file) };
      case 'hole':
        // oxlint-disable-next-line no-thenable -- a member of the tree, and nodes are never awaited
        return part.then ? { ...part, then: filled(part.then, file) } : part;
      default:
        return part;
    }
  });
}

/** Returns the text of `<>`, `<>.mx.filename`, `<>.filename` or `<>.name`; the empty text for a missing field. */
function placeholderText({ path }: FileTextPart, file: Value): string {
  const [first, ...rest] = path;
  if (first === undefined) return textOf(file);
  if (first !== 'mx') return FILE_FIELDS.has(first) ? fieldText(file, path) : memberText(file, path);
  return rest.length === 0 ? textOf(mxObject(file)) : fieldText(file, rest);
}

/** The fields about a file that may be written without `mx`. Other names are members of its data. */
const FILE_FIELDS: ReadonlySet<string> = new Set(
  'filename relative absolute path dirname relativeDir absoluteDir text data type length tokens tokest fm source'.split(' '),
);

function fieldText(file: Value, [name = '', ...deeper]: readonly string[]): string {
  return memberText(mxField(file, name), deeper);
}

function memberText(value: Value, path: readonly string[]): string {
  let found: Value = value;
  for (const name of path) {
    const data = dataOf(found);
    const isMember = Array.isArray(data) || isDataObject(data);
    found = isMember && Object.hasOwn(data, name) ? (data as { readonly [key: string]: Value })[name] : null;
  }
  return (dataOf(found) ?? null) === null ? '' : textOf(found);
}
