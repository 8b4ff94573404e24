/** Names the things in a journal. Each kind of name is made by one function; nothing else casts. */

declare const brand: unique symbol;
export type Branded<T, B extends string> = T & { readonly [brand]: B };

/** One run of a workflow. Sorts by time of start: `20261121-084512-123-9f3a`. */
export type RunId = Branded<string, 'RunId'>;
/** A script by its project-relative path with forward slashes: `llm/run/patrol.mld`. */
export type Workflow = Branded<string, 'Workflow'>;
/** Position of an event in its run: 0, 1, 2, … without gaps. */
export type Seq = Branded<number, 'Seq'>;
/** The place of an operation in its run: `main/for#2[17]/review#0`. */
export type OpPath = Branded<string, 'OpPath'>;
/** The identity under which the result of a call may be reused: `sha256:` and 64 hex digits. */
export type CallKey = Branded<string, 'CallKey'>;
/** A digest of the definition that a call was executed with: `sha256:` and 64 hex digits. */
export type Fingerprint = Branded<string, 'Fingerprint'>;
/** A payload by the digest of its bytes: `sha256:` and 64 hex digits. */
export type BlobId = Branded<string, 'BlobId'>;

export interface RunRef {
  readonly workflow: Workflow;
  readonly run: RunId;
}
/** One event of one run. */
export interface EventRef {
  readonly run: RunId;
  readonly seq: Seq;
}

/** Returns `RUN:SEQ`, under which sets and maps hold the event. */
export function textOfRef({ run, seq }: EventRef): string {
  return `${run}:${seq}`;
}

const RUN_ID = /^\d{8}-\d{6}-\d{3}-[0-9a-z]{4}$/;
const DIGEST = /^sha256:[0-9a-f]{64}$/;

export function isRunId(text: string): text is RunId {
  return RUN_ID.test(text);
}

/** `random` is four characters of `0-9a-z`; they keep runs apart that start in the same millisecond. */
export function runIdAt(timeMs: number, random: string): RunId {
  const [date, time] = new Date(timeMs).toISOString().replaceAll('-', '').replaceAll(':', '').split('T') as [string, string];
  return `${date}-${time.slice(0, 6)}-${time.slice(7, 10)}-${random}` as RunId;
}

/** Returns the time at which the run started, as its id says it: milliseconds since 1970. */
export function startOf(run: RunId): number {
  const [, year, month, day, hour, minute, second, ms] = /^(....)(..)(..)-(..)(..)(..)-(...)/.exec(run) ?? [];
  return Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}.${ms}Z`);
}

/** A clock may be wrong by so much. */
const AHEAD_MAX_MS = 366 * 24 * 3_600_000;

/** True when its id is not a time, or one so far in the future that no clock made it: no later run could sort behind it. */
export function isImplausible(run: RunId, nowMs: number): boolean {
  return !(startOf(run) - nowMs <= AHEAD_MAX_MS);
}

/** Turns path separators into `/` and removes a leading `./`. */
export function workflowOf(projectRelativePath: string): Workflow {
  return projectRelativePath.replaceAll('\\', '/').replace(/^\.\//, '') as Workflow;
}

export function isDigest(text: string): text is CallKey & Fingerprint & BlobId {
  return DIGEST.test(text);
}

export const opPath = (text: string): OpPath => text as OpPath;
export const seqOf = (position: number): Seq => position as Seq;

/** The place of an event in its run: opaque to all but the store that returned it. */
export interface Position {
  readonly offset: number;
  readonly bytes: number;
}
