/** Says what the name at a place is: its definition as it is written, and the comment above it. */
import { describeBuiltIn } from './built-in-names.js';
import { definitionOf, type Definition } from './definition.js';
import { mentionAt, type Mention } from './mentions.js';
import { rangeOf, type Range } from './positions.js';
import type { ProjectView } from './project-view.js';
import type { ParsedScript } from '../validate/rule.js';
import { commentAbove, extentsOf } from './statements.js';

export interface Hover {
  /** Is Markdown. Texts of files in it can't leave their place. */
  readonly markdown: string;
  readonly range: Range;
}

const LINES_MAX = 12;

export async function hoverAt(file: ParsedScript, at: number, view: ProjectView): Promise<Hover | undefined> {
  const mention = mentionAt(file, at);
  if (!mention) return undefined;
  const markdown = mention.declaration ? await describe(mention, file, view) : describeBuiltInName(mention.name);
  return markdown === undefined ? undefined : { markdown, range: rangeOf(file.text, mention.from, mention.to) };
}

async function describe(mention: Mention, file: ParsedScript, view: ProjectView): Promise<string | undefined> {
  const found = await definitionOf(mention, file, view);
  return found && describeDefinition(found, file);
}

/** Describes a declaration for a reader of `reader`. */
function describeDefinition({ file, declaration }: Definition, reader: ParsedScript): string {
  const { text } = file;
  const { kind, at } = declaration;
  const extent = extentsOf(file).find(({ statement }) => 'nameAt' in statement && statement.nameAt === at && kind !== 'param');
  const lineStart = text.lastIndexOf('\n', at - 1) + 1;
  const lineEnd = text.indexOf('\n', at);
  const from = extent?.from ?? lineStart;
  const written = text.slice(from, extent?.to ?? (lineEnd < 0 ? text.length : lineEnd)).trim();
  const comment = commentAbove(text, from);
  return [
    fenced(firstLines(written)),
    ...(kind === 'param' ? ['a parameter'] : kind === 'loop' ? ['the item of a loop'] : []),
    ...(comment === '' || kind === 'param' ? [] : [escaped(comment)]),
    ...(file.absolute === reader.absolute ? [] : [`from ${escaped(file.display)}`]),
  ].join('\n\n');
}

function describeBuiltInName(name: string): string | undefined {
  const meaning = describeBuiltIn(name);
  return meaning === undefined ? undefined : `${fenced(`@${name}`)}\n\n${escaped(meaning)}`;
}

function firstLines(written: string): string {
  const lines = written.split('\n');
  return lines.length > LINES_MAX ? [...lines.slice(0, LINES_MAX), '…'].join('\n') : written;
}

/** A fence is longer than any in the text, which therefore can't end it. */
function fenced(code: string): string {
  const longest = Math.max(2, ...[...code.matchAll(/`+/g)].map(([ticks]) => ticks.length));
  const fence = '`'.repeat(longest + 1);
  return `${fence}mlld\n${code}\n${fence}`;
}

/** Markdown has no meaning in a comment of a script: what looks like a link or a picture is shown as it is written. */
function escaped(text: string): string {
  return text.replace(/[\\`*_{}[\]()#+\-!<>|&~]/g, '\\$&').replaceAll('\n', '  \n');
}
