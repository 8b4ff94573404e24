/** Attaches the metadata of a loaded file to its values. world.md 9. */
import path from 'node:path';
import { parseYaml, splitFrontmatter } from '../../values/formats/frontmatter.js';
import { isDataObject } from '../../values/plain-object.js';
import { annotate, dataOf, FILE_SOURCES, metadataOf, type Data, type FileFacts, type Value } from '../../values/value.js';
import type { Frame } from '../../runtime/frame.js';

export async function fileFacts(absolute: string, text: string, frame: Frame): Promise<FileFacts> {
  const relative = `./${path.relative(frame.run.settings.projectRoot, absolute)}`;
  const frontmatter = text.startsWith('---') || text.startsWith('\uFEFF---') ? await frontmatterOf(text) : undefined;
  return { absolute, relative, ...(frontmatter === undefined ? {} : { frontmatter }) };
}

/** Returns undefined for a block that is not a YAML map: it is text between two rules. */
async function frontmatterOf(text: string): Promise<Data | undefined> {
  const block = splitFrontmatter(text);
  if (!block) return undefined;
  const data = await parseYaml(block.yaml).catch(() => undefined);
  return isDataObject(data) ? data : undefined;
}

/** Returns the value with the metadata of the file that it is, or is a part of. */
export function withFile(value: Value, file: FileFacts): Value {
  const text = metadataOf(value)?.text;
  return annotate(dataOf(value), { sources: FILE_SOURCES, file, ...(text === undefined ? {} : { text }) });
}
