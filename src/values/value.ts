/**
 * Values are plain JavaScript data. What else is known about a value - its labels, its origin, the text it was read from - is its
 * `Metadata`, and only values that have some are wrapped in `Annotated`.
 *
 * VALUE-1 A collection holds plain elements: labels of its members are labels of the collection, so that reading a member back returns
 *    the collection's labels. Three kinds of elements are annotated: loaded files (`metadata.file`), which keep their metadata, values
 *    that were made of failed calls (`metadata.failures`), which keep that alone, and `LazyData`, results whose data is read from the
 *    journal and which have no other metadata. Code that reads an element uses `dataOf`.
 * VALUE-2 Values are never changed in place. Code in other languages gets a deep copy (`toNative`).
 * VALUE-3 `undefined` is an undefined name or an argument that was not passed; a missing field is `null`.
 */
import type { FailureClass } from '../../journal/facts/call-event.js';
import type { OpPath } from '../../journal/ids.js';
import type { Callable } from './kinds/callable.js';

export type Scalar = null | boolean | number | string;
export interface DataObject {
  readonly [key: string]: Value;
}
export type Data = Scalar | readonly Value[] | DataObject | Callable | HostObject;
export type Value = Data | Annotated | undefined;

/** An object of the host that scripts may read by field: `new @URL(…)`. */
export class HostObject {
  constructor(readonly target: object) {}
  toJSON(): string {
    try {
      return String(this.target);
    } catch {
      return '[object Object]'; // an object may have no way of its own to a text
    }
  }
}

export interface FileFacts {
  readonly absolute: string;
  /** Relative to the project root, beginning with `./`. */
  readonly relative: string;
  /** The file's frontmatter. Set for a section, whose own text is the `text` of its metadata. */
  readonly frontmatter?: Data;
}

export interface CommandFacts {
  readonly source: string;
  readonly command: string;
  readonly exitCode: number;
  readonly durationMs: number;
  readonly stderr: string;
}

/** Holds what the call used whose result a value is. */
export interface MeasuredCall {
  /** The usage of all attempts: the members of `Usage` that are known. */
  readonly usage?: DataObject;
  /** The session of the model's program, which a later call may continue. */
  readonly session?: string;
}

/** A call without a result, as its marker and what is made of the marker remember it. calls.md 5.2. */
export interface FailedCall {
  readonly fn: string;
  readonly op: OpPath;
  readonly class: FailureClass;
  /** Begins with the class in words. */
  readonly message: string;
  readonly attempts: number;
  readonly retryAfterMs?: number | undefined;
  /** ISO 8601, UTC. */
  readonly resetsAt?: string | undefined;
  /** The beginning of the first argument. */
  readonly item: string;
}

export interface Metadata {
  /** Has no duplicates, in the order in which they were met. */
  readonly labels: readonly string[];
  /** Holds source markers (`src:js`, `src:file`, `dir:/…`), and `guard:NAME` for each guard that replaced a value it was made of. */
  readonly sources: readonly string[];
  /** The text that data was read from, where it has one. Interpolation, shells and `output` use it. */
  readonly text?: string;
  /** The text is what the body of a function printed: only `run` shows it, and the text view is that of the data (values.md 15.3). */
  readonly isPrinted?: true;
  /** The pattern of a load that no file matched; a loop over its result warns of it. */
  readonly unmatched?: string;
  readonly file?: FileFacts;
  readonly command?: CommandFacts;
  /** The data left a pipeline: written to a file it is on one line (world.md 14.2 leaves the spacing of results open). */
  readonly isResult?: true;
  /** Present on the result of a call; one in the journal is read when a script asks. */
  readonly measured?: () => MeasuredCall | undefined;
  /** Code bodies see the metadata of this file (`keep.ts`). */
  readonly isKept?: true;
  /** The failed calls that the language made this text or data of (`failures.ts`). Code and scripts do not see them. */
  readonly failures?: readonly FailedCall[];
}

export class Annotated {
  constructor(
    private readonly known: Data,
    readonly metadata: Metadata,
  ) {}
  get data(): Data {
    return this.known;
  }
  /** The text that the data was read from, where it has one. To be read here and not from the metadata, which `LazyData` lacks. */
  get text(): string | undefined {
    return this.metadata.text;
  }
  /** Returns the same data with other metadata. */
  withMetadata(metadata: Metadata): Annotated {
    return new Annotated(this.data, metadata);
  }
  toJSON(): unknown {
    return this.data;
  }
}

/**
 * Holds the place of a result in the journal, which is read when a script first looks at it: a loop over ten thousand results holds ten
 * thousand places, not ten thousand results.
 */
export class LazyData extends Annotated {
  constructor(
    private readonly load: { data(): Data; text(): string | undefined },
    metadata: Metadata,
    private readonly isElement = false,
  ) {
    super(null, metadata);
  }
  override get data(): Data {
    return this.load.data();
  }
  override get text(): string | undefined {
    return this.isElement ? undefined : this.load.text();
  }
  override withMetadata(metadata: Metadata): LazyData {
    return new LazyData(this.load, metadata, this.isElement);
  }
  /** VALUE-1 */
  asElement(): LazyData {
    return new LazyData(this.load, NO_METADATA, true);
  }
}

export const NO_LABELS: readonly string[] = [];
/** The source marker of values that were loaded from files. */
export const FILE_SOURCES: readonly string[] = ['src:file'];
export const NO_METADATA: Metadata = { labels: NO_LABELS, sources: NO_LABELS };

// Most values are texts, and before V8 optimizes a function it takes many times as long to ask for a class as to ask for a type.

/** Returns the data without its metadata. */
export function dataOf(value: Value): Data | undefined {
  return typeof value === 'object' && value instanceof Annotated ? value.data : (value as Data | undefined);
}

export function metadataOf(value: Value): Metadata | undefined {
  return typeof value === 'object' && value instanceof Annotated ? value.metadata : undefined;
}

export function labelsOf(value: Value): readonly string[] {
  return typeof value === 'object' && value instanceof Annotated ? value.metadata.labels : NO_LABELS;
}

export function sourcesOf(value: Value): readonly string[] {
  return typeof value === 'object' && value instanceof Annotated ? value.metadata.sources : NO_LABELS;
}

const BY_GUARD = 'guard:';

export function guardSource(name: string): string {
  return `${BY_GUARD}${name}`;
}

/** Returns the labels followed by the source markers: `.mx.taint`. */
export function taintOf(value: Value): readonly string[] {
  const sources = sourcesOf(value);
  const markers = sources.some(isGuardSource) ? sources.filter((source) => !isGuardSource(source)) : sources;
  return union(labelsOf(value), markers);
}

/** Returns `guard:NAME` for each guard that replaced a value that this one was made of. */
export function guardSourcesOf(value: Value): readonly string[] {
  return sourcesOf(value).filter(isGuardSource);
}

function isGuardSource(source: string): boolean {
  return source.startsWith(BY_GUARD);
}

/** Returns the first list followed by what the second adds; the first list itself when it adds nothing. */
export function union(first: readonly string[], second: readonly string[]): readonly string[] {
  if (second.length === 0 || first === second) return first;
  if (first.length === 0) return second;
  let all: string[] | undefined;
  for (let i = 0; i < second.length; i++) {
    const label = second[i] as string;
    if (!(all ?? first).includes(label)) (all ??= [...first]).push(label);
  }
  return all ?? first;
}

/** Adds metadata to `data`, which is wrapped only when there is some. */
export function annotate(data: Data | undefined, metadata: Partial<Metadata>): Value {
  const labels = metadata.labels ?? NO_LABELS;
  const sources = metadata.sources ?? NO_LABELS;
  if (
    labels.length === 0 &&
    sources.length === 0 &&
    metadata.text === undefined &&
    !metadata.file &&
    !metadata.command &&
    !metadata.measured &&
    !metadata.isResult &&
    !metadata.failures
  )
    return data;
  return new Annotated(data ?? null, { ...metadata, labels, sources });
}

/** Adds the labels and source markers of everything in `from` to `value`, which keeps its text and file: labels flow by this. */
export function flow(
  value: Value,
  from: readonly Value[],
  labels: readonly string[] = NO_LABELS,
  sources: readonly string[] = NO_LABELS,
): Value {
  const { labels: own, sources: ownSources } = typeof value === 'object' && value instanceof Annotated ? value.metadata : NO_METADATA;
  let met: readonly string[] = NO_LABELS;
  let metSources: readonly string[] = NO_LABELS;
  for (let i = 0; i < from.length; i++) {
    const source = from[i];
    if (typeof source !== 'object' || !(source instanceof Annotated)) continue;
    const { labels: more, sources: moreSources } = source.metadata;
    if (more.length > 0) met = met.length > 0 ? union(met, more) : more;
    if (moreSources.length > 0) metSources = metSources.length > 0 ? union(metSources, moreSources) : moreSources;
  }
  // This is asked of every value, and mostly at most one of the lists has something in it: then there is nothing to unite.
  let allLabels = own;
  let allSources = ownSources;
  if (met.length > 0) allLabels = own.length > 0 ? union(met, own) : met;
  if (metSources.length > 0) allSources = ownSources.length > 0 ? union(metSources, ownSources) : metSources;
  if (labels.length > 0) allLabels = allLabels.length > 0 ? union(allLabels, labels) : labels;
  if (sources.length > 0) allSources = allSources.length > 0 ? union(allSources, sources) : sources;
  if (allLabels === own && allSources === ownSources) return value;
  if (value === undefined) return value;
  if (value instanceof Annotated) return value.withMetadata({ ...value.metadata, labels: allLabels, sources: allSources });
  return annotate(value, { labels: allLabels, sources: allSources });
}

/** Returns a value as the element of a collection (VALUE-1), whose metadata gets its labels. */
export function asElement(value: Value): Value {
  if (!(value instanceof Annotated) || value.metadata.file) return value;
  if (value instanceof LazyData) return value.asElement();
  const { failures } = value.metadata;
  return failures ? annotate(value.data, { failures }) : value.data;
}
