/** Every call, command, file, guard decision and hook error of one run: `mlld journal audit`. */
import type { JournalStore } from '../../../journal/store.js';
import type { AuditEntry } from '../../../replay/reports/audit/audit.js';
import { auditRun as audit, type AuditConclusion, type AuditFilter } from '../../../replay/reports/audit/audit-run.js';
import { originOfFile as origin, type FileOrigin, type FileOriginOptions } from '../../../replay/reports/audit/file-origin-run.js';
import { runFile, skipDefects, type ReadOptions, type RunTarget } from '../run-target.js';

export type { AuditConclusion, AuditFilter, AuditTotals, HookCost } from '../../../replay/reports/audit/audit-run.js';
export type {
  AuditedCall,
  AuditedCommand,
  AuditedFile,
  AuditedGuard,
  AuditedHook,
  AuditedSuperseded,
  AuditEntry,
} from '../../../replay/reports/audit/audit.js';
import { reportStore } from '../../../replay/reports/report-store.js';
export type { Evidence, Origin } from '../../../replay/reports/audit/file-origin.js';
export type { FileOrigin } from '../../../replay/reports/audit/file-origin-run.js';

/** Has the members that `mlld journal audit --json` prints. */
export interface RunAudit extends AuditConclusion {
  readonly workflow: string;
  readonly run: string;
  readonly entries: readonly AuditEntry[];
}

/**
 * Lists what a run did, in order, with totals and whether its journal is sound. Durations in milliseconds, costs in US dollars. Holds all
 * entries in memory: for a run of many thousand operations use `streamAudit`. Throws RUN_UNKNOWN, and `JournalError` when the disk fails.
 *
 * ```js
 * const { entries, integrity } = await auditRun(store, run, { label: 'llm' });
 * ```
 */
export async function auditRun(store: JournalStore, run: RunTarget, filter: AuditFilter = {}): Promise<RunAudit> {
  const file = await runFile(store, run);
  const entries: AuditEntry[] = [];
  const conclusion = await audit(store, file, filter, (entry) => entries.push(entry));
  return { workflow: file.ref.workflow, run: file.ref.run, entries, ...conclusion };
}

/**
 * Calls `onEntry` for each entry as it is read, and returns the totals. Throws as `auditRun`.
 *
 * ```js
 * const { totals } = await streamAudit(store, run, {}, (entry) => file.write(JSON.stringify(entry) + '\n'));
 * ```
 */
export async function streamAudit(
  store: JournalStore,
  run: RunTarget,
  filter: AuditFilter,
  onEntry: (entry: AuditEntry) => void,
): Promise<AuditConclusion> {
  return audit(store, await runFile(store, run), filter, onEntry);
}

export type OriginOptions = ReadOptions & Omit<FileOriginOptions, 'onDefect'>;

/**
 * Finds who wrote and read a file, and which calls led to its content. `isFile` recognises its path as the journal has it: absolute, or
 * relative to the project. `content` is its present text, undefined when the file does not exist. Throws as `auditRun`.
 *
 * ```js
 * const { origins } = await originOfFile(store, run, { isFile: (path) => path === 'out/report.md', content });
 * ```
 */
export async function originOfFile(store: JournalStore, run: RunTarget, options: OriginOptions): Promise<FileOrigin> {
  return origin(reportStore(store), await runFile(store, run), { ...options, onDefect: options.onDefect ?? skipDefects });
}
