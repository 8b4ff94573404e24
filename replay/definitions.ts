/** What the functions were made of whose answers are recorded, and how two definitions of one function differ. */
import type { DefinitionPart } from '../journal/event.js';
import type { Fingerprint } from '../journal/ids.js';
import type { Projection } from './projection.js';

export type Parts = readonly DefinitionPart[];
export type Definitions = Map<Fingerprint, Parts>;

/** Over all runs of a workflow: an answer is compared with the definition it was made with, however old. */
export const definitions: Projection<Definitions> = {
  initial: () => new Map(),
  apply(state, event) {
    if (event.type === 'definition.recorded' && !state.has(event.fingerprint)) state.set(event.fingerprint, event.parts);
    if (event.type === 'memo.reset' && event.during === undefined) state.clear(); // else answers may stay that were made with one
    return state;
  },
};

/** One part that is not what it was; `was` and `is` are short previews, only where values may be read. */
export interface DefinitionChange {
  readonly kind: DefinitionPart['kind'];
  readonly name: string;
  readonly how: 'changed' | 'added' | 'removed';
  readonly was?: string;
  readonly is?: string;
}

/** In the order of `now`, what is gone at the end. Empty when either side is unknown. */
export function definitionChanges(before: Parts | undefined, now: Parts | undefined): readonly DefinitionChange[] {
  if (before === undefined || now === undefined) return [];
  const old = new Map(before.map((part) => [idOf(part), part]));
  const changes: DefinitionChange[] = [];
  for (const part of now) {
    const earlier = old.get(idOf(part));
    old.delete(idOf(part));
    if (earlier?.digest !== part.digest) changes.push(change(earlier, part));
  }
  for (const gone of old.values()) changes.push(change(gone, undefined));
  return changes;
}

const BODY_EDITED = 'its body was edited';

/** `its body was edited`, `@model was sonnet, is opus`: part of a sentence. */
export function describeChange({ kind, name, how, was, is }: DefinitionChange): string {
  if (kind === 'body') return how === 'changed' ? BODY_EDITED : 'it is another function now';
  const subject = kind === 'template' ? `the template ${name}` : `@${name}`;
  if (how === 'added') return `it uses ${subject} now`;
  if (how === 'removed') return `it does not use ${subject} any more`;
  if (kind !== 'variable') return `${subject} was edited`;
  return was === undefined || is === undefined || was === is ? `${subject} has another value` : `${subject} was ${was}, is ${is}`;
}

/** More changes of one definition are not named. */
const CHANGES_SHOWN = 3;

/** A clause about the changes of one function, as `describeChange` words them: `its body was edited`. */
export function describeEdit(changes: readonly string[]): string {
  const [first] = changes;
  if (first === undefined) return 'its definition was edited';
  if (changes.length === 1 && first === BODY_EDITED) return first;
  const more = changes.length - CHANGES_SHOWN;
  return `its definition was edited (${changes.slice(0, CHANGES_SHOWN).join(', ')}${more > 0 ? ` and ${more} more` : ''})`;
}

function change(before: DefinitionPart | undefined, now: DefinitionPart | undefined): DefinitionChange {
  const { kind, name } = (now ?? before) as DefinitionPart; // one of them is there
  const how = before === undefined ? 'added' : now === undefined ? 'removed' : 'changed';
  const [was, is] = [shown(before), shown(now)];
  return { kind, name, how, ...(was !== undefined && { was }), ...(is !== undefined && { is }) };
}

/** Previews are compact JSON: a text is shown without its quotes. */
function shown(part: DefinitionPart | undefined): string | undefined {
  const preview = part?.preview;
  return preview !== undefined && /^"[^"\\]*"$/.test(preview) ? preview.slice(1, -1) : preview;
}

/** The function itself is always the first part: renamed, it is another question, so its name does not tell it apart. */
function idOf({ kind, name }: DefinitionPart): string {
  return kind === 'body' ? 'body' : `${kind} ${name}`;
}
