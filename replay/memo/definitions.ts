/** Folds the definitions of the functions whose results are recorded, and compares two definitions of one function. */
import type { DefinitionPart } from '../../journal/event.js';
import type { Fingerprint, OpPath } from '../../journal/ids.js';
import { isInGuard } from '../fold/op-path.js';
import type { Projection } from '../fold/projection.js';

export type Parts = readonly DefinitionPart[];

export interface RecordedDefinition {
  readonly parts: Parts;
  /** The parts name every guard and hook that held; false: an older program recorded it, and which ones held is unknown. */
  readonly interceptors: boolean;
  /** The parts name all that code lists and is given; absent: an older program recorded it, and that is unknown. */
  readonly code?: true;
}

/** Returns a definition of now, of which nothing is unknown. */
export function completeDefinition(parts: Parts): RecordedDefinition {
  return { parts, interceptors: true, code: true };
}

export type Definitions = Map<Fingerprint, RecordedDefinition>;

/** Over all runs of a workflow: a result is compared with the definition it was made with, however old. */
export const definitions: Projection<Definitions> = {
  initial: () => new Map(),
  apply(state, event) {
    if (event.type === 'definition.recorded') {
      const { fingerprint, parts, interceptors, code } = event;
      const known = state.get(fingerprint);
      const saysMore = !known || (code && !known.code) || (interceptors && !known.interceptors);
      if (saysMore) state.set(fingerprint, { parts, interceptors: interceptors === true, ...(code && { code }) });
    }
    if (event.type === 'memo.reset' && event.during === undefined) state.clear(); // else results may stay that were made with one
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

/**
 * In the order of `now`, what is gone at the end. Empty when either side is unknown. Where an older program recorded one side, its guards
 * and hooks, what its code lists and is given, or the function that is its backend are unknown, and no change of them is claimed.
 */
export function definitionChanges(
  before: RecordedDefinition | undefined,
  now: RecordedDefinition | undefined,
): readonly DefinitionChange[] {
  if (before === undefined || now === undefined) return [];
  const all = [...before.parts, ...now.parts];
  const inCode = new Set(all.filter((part) => part.inCode).map(idOf));
  const inBackend = new Set(isBackendUnknown(before, now) ? all.filter((part) => part.inBackend).map(idOf) : []);
  const comparable = (part: DefinitionPart): boolean => {
    if (isInterceptor(part) && !(before.interceptors && now.interceptors)) return false;
    return ((before.code && now.code) || !inCode.has(idOf(part))) && !inBackend.has(idOf(part));
  };
  const [old, current] = [byId(before.parts.filter(comparable)), byId(now.parts.filter(comparable))];
  return [...new Set([...current.keys(), ...old.keys()])].flatMap((id) => changeOf(old.get(id) ?? [], current.get(id) ?? []));
}

function byId(parts: Parts): ReadonlyMap<string, Parts> {
  const found = new Map<string, DefinitionPart[]>();
  for (const part of parts) {
    const known = found.get(idOf(part));
    if (known) known.push(part);
    else found.set(idOf(part), [part]);
  }
  return found;
}

/** Compares the parts of one name: a variable that several functions use is there several times, and two modules may have one each. */
function changeOf(before: Parts, now: Parts): readonly DefinitionChange[] {
  const isIn = (parts: Parts, { digest }: DefinitionPart): boolean => parts.some((each) => each.digest === digest);
  const [gone, come] = [before.filter((part) => !isIn(now, part)), now.filter((part) => !isIn(before, part))];
  return gone.length + come.length === 0 ? [] : [change(gone[0] ?? before[0], come[0] ?? now[0])];
}

function isCodeUnknown(left: RecordedDefinition, right: RecordedDefinition): boolean {
  return left.code !== right.code && [...left.parts, ...right.parts].some(({ inCode }) => inCode);
}

/** A function that is a backend has a part at least. A call that has none was recorded by an older program, or has another backend. */
function isBackendUnknown(left: RecordedDefinition, right: RecordedDefinition): boolean {
  return left.parts.some((part) => part.inBackend) !== right.parts.some((part) => part.inBackend);
}

export function isSameChange(left: DefinitionChange, right: DefinitionChange): boolean {
  return left.kind === right.kind && left.name === right.name && left.was === right.was && left.is === right.is;
}

export function isInterceptor({ kind }: { readonly kind: DefinitionPart['kind'] }): boolean {
  return kind === 'guard' || kind === 'hook';
}

/** The difference between the definition that a result was made with and the one that a call has now. */
export interface Edit {
  /** The function itself, or something it uses. */
  readonly definition: boolean;
  /** A guard or a hook that the result was made under, or that has not seen it. */
  readonly interceptors: boolean;
  readonly changes: readonly DefinitionChange[];
}

export const UNEDITED: Edit = { definition: false, interceptors: false, changes: [] };

/** `recorded` finds a definition wherever it was recorded; `op` is the call that has the definition `now`. */
export function editBetween(
  before: Fingerprint | undefined,
  now: Fingerprint | undefined,
  { recorded, op }: { readonly recorded: (fingerprint: Fingerprint) => RecordedDefinition | undefined; readonly op: OpPath },
): Edit {
  if (before === undefined || now === undefined || before === now) return UNEDITED;
  const [then, current] = [recorded(before), recorded(now)];
  const changes = definitionChanges(then, current);
  if (changes.length > 0) return editOfChanges(changesAt(op, changes));
  // Nothing differs in what both sides recorded: it is an edit, unless an older program did not look for all that the other one names.
  const isUnknown =
    then !== undefined &&
    current !== undefined &&
    (then.interceptors !== current.interceptors || isCodeUnknown(then, current) || isBackendUnknown(then, current));
  return { definition: !isUnknown, interceptors: false, changes };
}

export function editOfChanges(changes: readonly DefinitionChange[]): Edit {
  return { definition: changes.some((each) => !isInterceptor(each)), interceptors: changes.some(isInterceptor), changes };
}

/** Inside a guard no interceptor holds, so that the result of a call elsewhere has passed more of them than it needs, and none is gone. */
export function changesAt(op: OpPath, changes: readonly DefinitionChange[]): readonly DefinitionChange[] {
  return isInGuard(op) ? changes.filter((each) => !isInterceptor(each)) : changes;
}

/** Returns whether an edit makes a result a miss: any edit under `--changed ask`, only one of guards and hooks under `ask-guards`. */
export function isRefused({ definition, interceptors }: Edit, changed: 'serve' | 'ask' | 'ask-guards'): boolean {
  if (changed === 'serve') return false;
  return interceptors || (definition && changed === 'ask');
}

const BODY_EDITED = 'its body was edited';
const HOW = { changed: 'was changed', added: 'was added', removed: 'was taken away' };

/** `its body was edited`, `@model was sonnet, is opus`, `guard @quality was added`: part of a sentence. */
export function describeChange({ kind, name, how, was, is }: DefinitionChange): string {
  if (kind === 'body') return how === 'changed' ? BODY_EDITED : 'it is another function now';
  if (kind === 'schema') return how === 'changed' ? `the schema of @${name} was edited` : `the schema of @${name} ${HOW[how]}`;
  if (kind === 'guard' || kind === 'hook') return `${kind} ${name} ${HOW[how]}`;
  const subject = kind === 'template' ? `the template ${name}` : `@${name}`;
  if (how === 'added') return `it uses ${subject} now`;
  if (how === 'removed') return `it does not use ${subject} any more`;
  if (kind !== 'variable') return `${subject} was edited`;
  return was === undefined || is === undefined || was === is ? `${subject} has another value` : `${subject} was ${was}, is ${is}`;
}

/** More changes of one definition are not named. */
const CHANGES_SHOWN = 3;

/** A clause about the changes of one function: `its body was edited`, `guard @quality was added`. */
export function describeEdit(edits: readonly DefinitionChange[]): string {
  const changes = [...new Set(edits.map(describeChange))];
  const [first] = changes;
  if (first === undefined) return 'its definition was edited';
  if (changes.length === 1 && first === BODY_EDITED) return first;
  const more = changes.length - CHANGES_SHOWN;
  const shown = `${changes.slice(0, CHANGES_SHOWN).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
  return edits.every(isInterceptor) ? shown : `its definition was edited (${shown})`;
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

/**
 * The function itself is always the first part. Its name is not compared: a renamed function has other call keys. What a backend uses is
 * apart from the settings of the call, whose names it may have (`model`).
 */
function idOf({ kind, name, inBackend }: DefinitionPart): string {
  if (kind === 'body') return 'body';
  return inBackend && !isInterceptor({ kind }) ? `backend ${kind} ${name}` : `${kind} ${name}`;
}
