/** Finds in one run who wrote and read a file, and which calls led to what was written last. */
import type { Json } from '../../../journal/event.js';
import type { RunRef, Seq, Workflow } from '../../../journal/ids.js';
import type { Defect, JournalStore, RunFile } from '../../../journal/store.js';
import { sha256 } from '../../../journal/canonical.js';
import { auditTrail, type AuditedCall, type AuditedFile } from './audit.js';
import { originsOf, withQuotes, type Origin } from './file-origin.js';
import { readResult } from '../../memo/read-result.js';
import type { Projection } from '../../fold/projection.js';
import { foldRun } from '../../fold/fold-run.js';
import { rememberMemos, type MemoOf } from '../../memo/memo-loader.js';

export interface FileOrigin {
  readonly workflow: string;
  readonly run: string;
  /** In order; a declared output file of a call is a write without an entry of its own. */
  readonly touched: readonly AuditedFile[];
  /** The last time it was written. Undefined: not by this run. */
  readonly written: { readonly seq: number; readonly op: string | undefined; readonly ts: string; readonly hash?: string } | undefined;
  /** Compares the file with what was written: only an unchanged file is searched for results. `unknown`: what was written is not kept. */
  readonly content: 'as written' | 'another by now' | 'gone' | 'appended to' | 'unknown';
  /** In order. */
  readonly origins: readonly Origin[];
}

export interface FileOriginOptions {
  readonly isFile: (path: string) => boolean;
  /** Text of the file now; undefined when it is gone. */
  readonly content: string | undefined;
  readonly onDefect: (defect: Defect) => void;
}

export async function originOfFile(store: JournalStore, { ref }: RunFile, options: FileOriginOptions): Promise<FileOrigin> {
  const { isFile, content, onDefect } = options;
  const trail = await foldRun(store, ref, auditTrail({ keepResults: true }), { onDefect });
  const calls = trail.entries.filter((entry) => entry.entry === 'call');
  const touched = trail.entries.filter((entry) => entry.entry === 'file').filter(({ path }) => isFile(path));
  const declaring = calls.findLast(({ outputs }) => outputs?.some(({ path }) => isFile(path)));
  const effect = touched.findLast(({ did, error }) => (did === 'write' || did === 'append') && error === undefined);
  const last = declaring !== undefined && (effect === undefined || declaring.seq > effect.seq) ? declaring : effect;
  if (last === undefined) return { workflow: ref.workflow, run: ref.run, touched, written: undefined, content: 'gone', origins: [] };

  const hash = last.entry === 'file' ? last.hash : (hashIn(last.outputs, isFile) ?? (await hashOfReused(store, ref, last, options)));
  const state = stateOf(content, hash, last.entry === 'file' && last.did === 'append');
  const memoOf = rememberMemos(store, onDefect);
  let origins = await named(originsOf(last, calls, isFile), ref.workflow, memoOf);
  if (content !== undefined && (state === 'as written' || state === 'appended to')) {
    origins = await withQuotes(origins, content, async (call) => {
      const position = trail.results?.get(call.seq);
      if (position === undefined) return servedAnswer(store, call, ref.workflow, memoOf);
      const event = await store.readAt(ref, position);
      return event?.type === 'call.completed' ? store.resolve(event.result, event.key) : undefined;
    });
  }
  return {
    workflow: ref.workflow,
    run: ref.run,
    touched,
    written: { seq: last.seq, op: last.op, ts: last.ts, ...(hash !== undefined && { hash }) },
    content: state,
    origins,
  };
}

function stateOf(content: string | undefined, hash: string | undefined, isAppended: boolean): FileOrigin['content'] {
  if (content === undefined) return 'gone';
  if (isAppended) return 'appended to';
  if (hash === undefined) return 'unknown';
  return sha256(content) === hash ? 'as written' : 'another by now';
}

function hashIn(outputs: AuditedCall['outputs'], isFile: FileOriginOptions['isFile']): string | undefined {
  return outputs?.find(({ path }) => isFile(path))?.hash;
}

/** The event of a reused call says what became of its files, not what is in them: the run that executed the call knows that. */
async function hashOfReused(
  store: JournalStore,
  { workflow }: RunRef,
  { from }: AuditedCall,
  { isFile, onDefect }: FileOriginOptions,
): Promise<string | undefined> {
  if (from === undefined) return undefined;
  const runs = await store.runs(from.workflow ?? workflow);
  const executed = runs.find(({ ref }) => ref.run === from.run);
  if (!executed) return undefined; // it was collected since
  return foldRun(store, executed.ref, hashOfFile(from.seq, isFile), { onDefect });
}

/** Finds the content of a file that the call whose end is `seq` had written or declared. */
function hashOfFile(seq: Seq, isFile: FileOriginOptions['isFile']): Projection<string | undefined> {
  return {
    initial: () => undefined,
    apply: (found, event) => {
      if (event.seq !== seq || event.type !== 'call.completed') return found;
      const written = [...(event.outputs ?? []), ...(event.files ?? [])].find(({ path }) => isFile(path));
      return written && 'blob' in written ? written.blob : undefined;
    },
  };
}

/** Fills in previews of reused calls: a reuse event may lack its own, the memo has it. */
async function named(origins: readonly Origin[], own: Workflow, memoOf: MemoOf): Promise<readonly Origin[]> {
  const all: Origin[] = [];
  for (const { call, evidence } of origins) {
    const isNamed = call.outcome !== 'reused' || call.preview !== undefined;
    const preview = isNamed ? undefined : (await memoOf(call.from?.workflow ?? own)).entries.get(call.key)?.preview;
    all.push({ call: preview === undefined ? call : { ...call, preview }, evidence });
  }
  return all;
}

/** Undefined where another result has replaced it since. */
async function servedAnswer(store: JournalStore, { key, from }: AuditedCall, own: Workflow, memoOf: MemoOf): Promise<Json | undefined> {
  const answer = (await memoOf(from?.workflow ?? own)).entries.get(key)?.result;
  const isIt = answer !== undefined && answer.ref.run === from?.run && answer.seq === from.seq;
  return isIt ? (await readResult(store, key, answer))?.result.json : undefined;
}
