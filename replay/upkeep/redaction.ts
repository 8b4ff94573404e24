/**
 * Takes content out of an event. A payload goes as a whole and leaves the reason; other texts lose what matches. Names that hold a run
 * together (types, paths, keys, functions, nodes) stay, or the record would not be one any more.
 */
import type { JournalEvent, Json } from '../../journal/event.js';
import { isDigest, type BlobId, type OpPath } from '../../journal/ids.js';
import { ancestorsOf } from '../fold/op-path.js';

export interface RedactionRequest {
  /** Only events of these operations and what is inside them. */
  readonly ops: ReadonlySet<string> | undefined;
  /** The texts to take out; must have the flag `g`. Undefined: every payload and text of those events. */
  readonly match: RegExp | undefined;
  readonly reason: string;
  /** Blobs that match. */
  readonly blobs: ReadonlySet<BlobId>;
}

const REDACTED_TEXT = '[redacted]';

/** At any depth outside of payloads. */
const NAMES = new Set(
  [
    'v seq type key op ts hash tombstone redacted kind fn name labels removed site declared',
    'workflow run role form status versions timing decision keyId digest did header flags',
    'node handler from to of id via gates branch branches mode by hook guard filter',
    'request file thread model provider effort cause',
  ].flatMap((words) => words.split(' ')),
);

/** The event without what the wish takes out of it; undefined when that is nothing. */
export function redactEvent(event: JournalEvent, wish: RedactionRequest): JournalEvent | undefined {
  if (wish.ops !== undefined && !('op' in event && isInsideOne(event.op, wish.ops))) return undefined;
  const redactor = new Redactor(wish);
  const changed = redactor.members(event as unknown as Members, true);
  // Sound because members keep their types but for those that the format lets be redacted.
  return redactor.changes > 0 ? withoutPreview(changed as unknown as JournalEvent) : undefined;
}

function isInsideOne(op: OpPath, ops: ReadonlySet<string>): boolean {
  if (ops.has(op)) return true;
  for (const around of ancestorsOf(op)) if (ops.has(around)) return true;
  return false;
}

/** Arguments that were taken out leave nothing of their first words: a match may lie across the end of these. */
function withoutPreview(event: JournalEvent): JournalEvent {
  if (event.type !== 'call.started' || event.preview === undefined || !('redacted' in event.args)) return event;
  const { preview: _, ...rest } = event;
  return rest;
}

/** Returns whether a recorded value, or any text in it, matches. */
export function holdsMatch(value: Json, match: RegExp): boolean {
  if (typeof value === 'string') return hits(value, match);
  if (typeof value !== 'object' || value === null) return hits(String(value), match);
  if (Array.isArray(value)) return value.some((item) => holdsMatch(item as Json, match));
  return Object.entries(value).some(([name, member]) => hits(name, match) || holdsMatch(member as Json, match));
}

function hits(text: string, match: RegExp): boolean {
  match.lastIndex = 0;
  return match.test(text);
}

type Members = { readonly [name: string]: Json };

const HAVE_FILES: ReadonlySet<Json | undefined> = new Set(['call.completed', 'result.received']);

class Redactor {
  changes = 0;

  constructor(private readonly wish: RedactionRequest) {}

  members(members: Members, isEvent = false): Json {
    const isCheckpoint = isEvent && String(members['type']).startsWith('checkpoint.');
    const kept: [string, Json][] = [];
    for (const [name, member] of Object.entries(members)) {
      if (isEvent && name === 'blob' && typeof member === 'string') {
        // A source: its text is gone, its path stays.
        if (!this.takesBlob(member as BlobId)) kept.push([name, member]);
        else this.changes++;
      } else if (isEvent && name === 'files' && HAVE_FILES.has(members['type'])) {
        kept.push([name, (member as readonly Members[]).flatMap((file) => this.file(file))]);
      } else if (isName(name, member) && !(name === 'name' && isCheckpoint)) kept.push([name, member]);
      else kept.push([this.nameOf(name, isEvent), this.value(member)]);
    }
    return Object.fromEntries(kept);
  }

  private nameOf(name: string, isEvent: boolean): string {
    return isEvent || this.wish.match === undefined ? name : this.text(name);
  }

  private value(value: Json): Json {
    if (typeof value === 'string') return isDigest(value) ? value : this.text(value);
    if (typeof value !== 'object' || value === null) return value;
    if (Array.isArray(value)) return value.map((item: Json) => this.value(item));
    const members = value as Members;
    if (isPayload(members)) return this.payload(members);
    if (isOutput(members)) return this.output(members);
    return this.members(members);
  }

  private payload(payload: Members): Json {
    const { match, reason } = this.wish;
    if ('redacted' in payload) return payload;
    const isHit =
      match === undefined || ('inline' in payload ? holdsMatch(payload['inline'] as Json, match) : this.takesBlob(payload['blob']));
    if (!isHit) return payload;
    this.changes++;
    return { redacted: reason };
  }

  private output(output: Members): Json {
    if (!this.takesBlob(output['blob'])) return output;
    this.changes++;
    return { path: output['path'] as Json, reason: 'redacted' };
  }

  /** Takes out a file whose path matches: under another path it would be looked for in vain, and its call executed again. */
  private file(file: Members): readonly Json[] {
    const { match } = this.wish;
    const isHit = match === undefined || hits(String(file['path']), match);
    if (!isHit && !('blob' in file && this.takesBlob(file['blob']))) return [file];
    this.changes++;
    if (isHit) return [];
    const { blob: _, ...rest } = file;
    return [{ ...rest, reason: 'redacted' }];
  }

  private takesBlob(blob: Json | undefined): boolean {
    return this.wish.match === undefined || (typeof blob === 'string' && this.wish.blobs.has(blob as BlobId));
  }

  private text(text: string): string {
    const { match } = this.wish;
    if (text === '' || text === REDACTED_TEXT) return text;
    const left = match === undefined ? REDACTED_TEXT : text.replace(match, REDACTED_TEXT);
    if (left !== text) this.changes++;
    return left;
  }
}

/** The outcome of an operation is a word, that of a node holds data. */
function isName(name: string, member: Json): boolean {
  return NAMES.has(name) || (name === 'outcome' && typeof member === 'string');
}

/** One of the forms of a payload. */
function isPayload(members: Members): boolean {
  const names = Object.keys(members);
  const [only] = names;
  if (names.length === 1) return only === 'inline' || only === 'digest' || only === 'redacted';
  return ('sealed' in members && 'keyId' in members) || ('blob' in members && 'bytes' in members && !('path' in members));
}

function isOutput(members: Members): boolean {
  return 'blob' in members && 'path' in members;
}
