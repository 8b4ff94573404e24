/** Selects sections and headings of a loaded file. world.md 7. */
import path from 'node:path';
import type { Section, SectionItem } from '../../../grammar/ast.js';
import { MlldError } from '../../errors.js';
import { renderPath } from '../paths.js';
import { headings, listHeadings, type Selection } from '../../values/formats/sections.js';
import { closest } from '../../values/suggest.js';
import type { FileFacts, Value } from '../../values/value.js';
import { locationOf } from '../../runtime/errors.js';
import type { Frame } from '../../runtime/frame.js';
import { withFile } from './loaded-file.js';

/** Returns the titles that `# ??` lists. */
export function headingList({ list }: Section, text: string, file: FileFacts): Value {
  return withFile(listHeadings(text, list || undefined), file);
}

/** Returns the titles as an item of a glob; undefined for a file without such headings. */
export function headingEntry({ list }: Section, text: string, { absolute, relative }: FileFacts): Value {
  const names = listHeadings(text, list || undefined);
  return names.length === 0 ? undefined : { names, file: path.basename(absolute), relative, absolute };
}

export async function selectionOf({ include, exclude }: Section, frame: Frame): Promise<Selection> {
  const titled = async (items: readonly SectionItem[]) => {
    const titles = [];
    for (const { title, optional } of items) titles.push({ title: await renderPath(title, frame), optional: optional ?? false });
    return titles;
  };
  return { include: await titled(include), exclude: await titled(exclude) };
}

export function sectionMissing(title: string, text: string, written: string, section: Section, frame: Frame): MlldError {
  const titles = headings(text).map((heading) => heading.title);
  const near = closest(title, titles);
  return new MlldError('SECTION_NOT_FOUND', `There is no section "${title}" in ${written}`, {
    location: locationOf(frame.module, section.at),
    hint:
      near !== undefined
        ? `did you mean "${near}"?`
        : titles.length === 0
          ? 'the file has no headings'
          : `its headings are: ${titles.slice(0, 10).join(', ')}`,
  });
}
