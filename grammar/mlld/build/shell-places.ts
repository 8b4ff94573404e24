/**
 * Finds the place of each reference of a `cmd` in the text of the shell, because it decides how the value is passed.
 *
 * A wrong place splits a value that should not be split, or the reverse. It does not let the shell read a value as code, because values are
 * not in the text; but where bash computes, a value that is not a number may run something
 * (docs/decisions/0042-values-stand-beside-a-command.md).
 */
import type { HolePart, TemplatePart } from '../../ast.js';
import { HOLE, ShellReader, type FlatText, type FoundPlaces, type ShellPlace } from './shell-reader.js';

/** Returns the parts with the place of each reference. What the shell does not expand (in single quotes, in comments) becomes text. */
export function placed(parts: readonly TemplatePart[], onOperator?: (rest: string) => void): TemplatePart[] {
  const flat: FlatText = { text: '', holes: new Map() };
  flatten(parts, flat);
  const found: FoundPlaces = { places: new Map(), onOperator };
  new ShellReader(flat, found).commands('end');
  return withPlaces(parts, found.places);
}

function flatten(parts: readonly TemplatePart[], flat: FlatText): void {
  for (const part of parts) {
    if (part.kind === 'text') flat.text += part.text;
    else if (part.kind === 'hole' && part.then) flatten(part.then, flat);
    else if (part.kind === 'hole') {
      flat.holes.set(flat.text.length, part);
      flat.text += HOLE;
    }
  }
}

function withPlaces(parts: readonly TemplatePart[], places: FoundPlaces['places']): TemplatePart[] {
  const result: TemplatePart[] = [];
  const write = (text: string): void => {
    const last = result.at(-1);
    if (last?.kind === 'text') result[result.length - 1] = { kind: 'text', text: last.text + text };
    else result.push({ kind: 'text', text });
  };
  for (const part of parts) {
    if (part.kind === 'text') write(part.text);
    else if (part.kind !== 'hole') result.push(part);
    else if (part.then)
      result.push({ ...part, then: withPlaces(part.then, places) }); // oxlint-disable-line unicorn/no-thenable -- a node, never awaited
    else {
      const place = places.get(part);
      if (place === undefined) write(part.written);
      else result.push(atPlace(part, place, result));
    }
  }
  return result;
}

/** The dollar sign before a reference belongs to the value: in the text it would expand the variable that the value names. */
function atPlace({ written, ...part }: HolePart, place: ShellPlace, before: TemplatePart[]): HolePart {
  const last = before.at(-1);
  if (place.dollar && last?.kind === 'text') {
    const text = last.text.replace(place.backquotes ? /(?<!\\)((?:\\\\)*)\\?\$$/ : /\$$/, '$1');
    before.pop();
    if (text !== '') before.push({ kind: 'text', text });
  }
  return { ...part, ...place, written };
}
