/** Audits one run: the entries that pass a filter, as they are read, then their totals and whether the journal is whole. */
import type { EventOf, JournalEvent } from '../../../journal/event.js';
import type { OpPath } from '../../../journal/ids.js';
import type { Defect, JournalStore, RunFile } from '../../../journal/store.js';
import { noCalls, type CallCounts } from '../../fold/calls/call-counts.js';
import { emptyLedger, endRun, followCall } from '../../fold/calls/call-ledger.js';
import { isRequested } from '../../fold/calls/requested-executions.js';
import { auditTrail, unended, type AuditedCall, type AuditedHook, type AuditEntry } from './audit.js';
import { OddLines, reportStore } from '../report-store.js';
import { salvagedOpsOf } from '../postmortem/salvaged-calls.js';
import { teamCalls } from '../team/team-calls.js';
import { recordOfTeam, type TeamRecord } from '../team/unended-at-workers.js';
import { loadWorkflow } from '../../memo/load.js';
import type { Memo } from '../../memo/memo.js';
import { isInside, parentOf } from '../../fold/op-path.js';
import { conclude, legality, type VerifyReport } from './verify.js';

export interface AuditFilter {
  /** A path: the operation itself and what is inside it. */
  readonly op?: string | undefined;
  /** Carried by the operation or by one around it. */
  readonly label?: string | undefined;
  /** Milliseconds since 1970; both ends included. */
  readonly fromMs?: number | undefined;
  readonly toMs?: number | undefined;
}

/** Totals of the entries that pass the filter. */
export interface AuditTotals extends CallCounts {
  unfinished: number;
  commands: number;
  filesRead: number;
  filesWritten: number;
  denials: number;
  hookErrors: number;
  /** In the order of their first firing. */
  readonly hooks: HookCost[];
}

/** Firings and time of one hook. */
export interface HookCost {
  readonly hook: string;
  readonly timing: 'before' | 'after';
  readonly filter: string;
  firings: number;
  errors: number;
  /** With everything that its body did; hooks that ran side by side are added up. */
  durationMs: number;
}

export interface AuditConclusion {
  /** Holds for the whole run, whatever the filter. */
  readonly team: TeamRecord;
  readonly totals: AuditTotals;
  readonly integrity: VerifyReport;
}

export async function auditRun(
  store: JournalStore,
  file: RunFile,
  filter: AuditFilter,
  see: (entry: AuditEntry) => void,
): Promise<AuditConclusion> {
  const { ref } = file;
  const read = reportStore(store);
  const previews = await previewsOfServed(read, file);
  const defects: Defect[] = [];
  const odd = new OddLines(ref);
  const legal = legality.initial();
  const projection = auditTrail({ keepResults: false });
  const trail = projection.initial();
  const totals = noTotals();
  const team = teamCalls.initial();
  const calls = createCallTotals(totals);
  const take = (entry: AuditEntry, ended?: JournalEvent): void => {
    if (!matches(entry, filter)) return;
    if (entry.entry === 'call') calls.count(entry, ended);
    else count(totals, entry);
    // Firings that went well are in the totals: there may be several for every operation.
    if (entry.entry !== 'hook' || entry.error !== undefined) see(entry);
  };
  await store.scan(
    ref,
    (event, position) => {
      const place = { ref, position };
      const isFit = odd.isFit(event, position);
      legality.apply(legal, event, place); // as `journal verify` does: what is left out of the entries has happened all the same
      if (!isFit) return;
      projection.apply(trail, event, place);
      teamCalls.apply(team, event);
      if (event.type === 'call.started') calls.started(event);
      if (event.type === 'result.received') calls.received(event);
      if (event.type === 'call.withdrawn') calls.withdrawn(event);
      if (OF_STAGES.has(event.type)) calls.ofStage(event);
      for (const entry of trail.entries) take(withPreview(entry, previews), event);
      trail.entries = [];
    },
    { onDefect: (defect) => defects.push(defect) },
  );
  const leftOut = odd.defect();
  if (leftOut !== undefined) defects.push(leftOut);
  for (const call of unended(trail)) take(call);
  if (file.liveness !== 'running') calls.endRun(await salvagedOpsOf(read, file));
  return {
    totals,
    team: await recordOfTeam(read, file, team, () => store.runs(ref.workflow)),
    integrity: await conclude(store, ref, legal, defects),
  };
}

/** Loads the memo for previews: a reuse event has no arguments, the run that executed the call has. */
async function previewsOfServed(store: JournalStore, { ref, finished }: RunFile): Promise<Memo | undefined> {
  if (finished?.totals.reused === 0) return undefined;
  // Damage in other runs is not part of this report.
  return (await loadWorkflow(store, ref.workflow, { onDefect: () => undefined })).memo;
}

function withPreview(entry: AuditEntry, previews: Memo | undefined): AuditEntry {
  if (entry.entry !== 'call' || entry.outcome !== 'reused' || entry.preview !== undefined) return entry;
  const preview = previews?.entries.get(entry.key)?.preview;
  return preview === undefined ? entry : { ...entry, preview };
}

function matches(entry: AuditEntry, { op, label, fromMs, toMs }: AuditFilter): boolean {
  if (op !== undefined && (entry.op === undefined || !isInside(entry.op, op))) return false;
  if (label !== undefined && entry.labels?.includes(label) !== true) return false;
  if (fromMs === undefined && toMs === undefined) return true;
  const atMs = Date.parse(entry.ts);
  return atMs >= (fromMs ?? -Infinity) && atMs <= (toMs ?? Infinity);
}

function noTotals(): AuditTotals {
  return {
    ...noCalls(),
    unfinished: 0,
    commands: 0,
    filesRead: 0,
    filesWritten: 0,
    denials: 0,
    hookErrors: 0,
    hooks: [],
  };
}

/** Counts the attempts whose entries pass the filter: an attempt is counted with its start once its entry is known. */
function createCallTotals(totals: AuditTotals) {
  const ledger = emptyLedger();
  const starts = new Map<OpPath, EventOf<'call.started'> & { readonly isRequested: boolean }>();
  const results = new Map<OpPath, EventOf<'result.received'>>();
  const isExecution = (event: EventOf<'call.started' | 'call.reused'>): boolean => {
    const start = starts.get(parentOf(event.op) ?? event.op);
    const isPriced = start !== undefined && (start.received !== undefined || results.has(start.op));
    return isRequested(event, start && { ...start, ...(isPriced && { isPriced }) });
  };
  return {
    started(event: EventOf<'call.started'>): void {
      starts.set(event.op, { ...event, args: NO_PAYLOAD, isRequested: isExecution(event) });
    },
    received: (event: EventOf<'result.received'>): void => void results.set(event.op, { ...event, result: NO_PAYLOAD }),
    withdrawn: ({ op }: EventOf<'call.withdrawn'>): void => void starts.delete(op),
    count({ op, outcome }: AuditedCall, ended: JournalEvent | undefined): void {
      const start = starts.get(op);
      if (start) followCall(ledger, start, [totals]);
      const result = results.get(op);
      if (start && result) followCall(ledger, result, [totals]);
      starts.delete(op);
      results.delete(op);
      if (outcome === 'unfinished' || outcome === 'waited') totals.unfinished += 1;
      if (ended?.type === 'call.reused') followCall(ledger, { ...ended, isRequested: isExecution(ended) }, [totals]);
      else if (ended) followCall(ledger, ended, [totals]);
    },
    ofStage: (event: JournalEvent): void => void followCall(ledger, event),
    endRun: (salvaged: ReadonlySet<OpPath>): void => endRun(ledger, salvaged),
  };
}

/** They decide how the failed calls of a pipeline's stages count. */
const OF_STAGES: ReadonlySet<string> = new Set<JournalEvent['type']>(['retry.scheduled', 'node.finished', 'edge.selected', 'run.finished']);

/** Arguments and results may be large. */
const NO_PAYLOAD = { inline: null };

function count(totals: AuditTotals, entry: Exclude<AuditEntry, AuditedCall>): void {
  switch (entry.entry) {
    case 'superseded': // its attempt counts already
      return;
    case 'command':
      totals.commands += 1;
      return;
    case 'file':
      if (entry.did === 'read') totals.filesRead += 1;
      else if (entry.did !== 'missed') totals.filesWritten += 1;
      return;
    case 'guard':
      if (entry.decision === 'deny') totals.denials += 1;
      return;
    case 'hook':
      if (entry.error !== undefined) totals.hookErrors += 1;
      addFiring(totals.hooks, entry);
  }
}

function addFiring(hooks: HookCost[], { hook, timing, filter, durationMs, error }: AuditedHook): void {
  let cost = hooks.find((known) => known.hook === hook && known.timing === timing && known.filter === filter);
  if (cost === undefined) hooks.push((cost = { hook, timing, filter, firings: 0, errors: 0, durationMs: 0 }));
  cost.firings += 1;
  cost.durationMs += durationMs;
  if (error !== undefined) cost.errors += 1;
}
