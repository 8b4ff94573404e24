/** Reports filters that match nothing on standard error: an empty report alone would look as if nothing had happened in the run. */
import { DURABILITY, isInside } from '../../../src/api/commands/filters.js';
import type { RunRef } from '../../../src/api/ids.js';
import type { JournalStore } from '../../../journal/store.js';
import { closest } from '../../../grammar/closest.js';
import type { Io } from '../../terminal/io.js';

interface Filters {
  readonly types?: readonly string[] | undefined;
  readonly op?: string | undefined;
  readonly label?: string | undefined;
}

/** Prints a line for each filter that matches nothing in the run, or one line when each matches something and all together nothing. */
export async function reportUnmatchedFilters(io: Io, store: JournalStore, ref: RunRef, filters: Filters): Promise<void> {
  const { types = [], op, label } = filters;
  const names = await namesIn(store, ref);
  const lines = [
    ...types.filter((type) => !names.types.has(type)).map((type) => line(ref, '--type', type, closest(type, TYPES))),
    ...(op === undefined || hasOperation(names, op) ? [] : [line(ref, '--op', op, nearestOperation(names, op))]),
    ...(label === undefined || names.labels.has(label) ? [] : [line(ref, '--label', label, closest(label, names.labels))]),
  ];
  io.stderr(lines.length > 0 ? lines.join('') : `note: nothing in ${ref.run} matches these filters\n`);
}

/** Looks an operation up in the run, and the nearest one that the run has. */
export async function findOperation(
  store: JournalStore,
  ref: RunRef,
  op: string,
): Promise<{ readonly found: boolean; readonly near?: string }> {
  const names = await namesIn(store, ref);
  const near = nearestOperation(names, op);
  return { found: hasOperation(names, op), ...(near === undefined ? {} : { near }) };
}

interface RunNames {
  /** With their groups: `call.completed`, `call`. */
  readonly types: ReadonlySet<string>;
  readonly ops: ReadonlySet<string>;
  readonly labels: ReadonlySet<string>;
}

async function namesIn(store: JournalStore, ref: RunRef): Promise<RunNames> {
  const [types, ops, labels] = [new Set<string>(), new Set<string>(), new Set<string>()];
  // Every line counts: a redaction has to find an operation whose lines a report leaves out.
  await store.scan(ref, (event) => {
    types.add(event.type).add(groupOf(event.type));
    const { op, labels: its }: { readonly op?: unknown; readonly labels?: unknown } = event as object;
    if (typeof op === 'string') ops.add(op);
    if (Array.isArray(its)) for (const label of its) labels.add(String(label));
  });
  return { types, ops, labels };
}

function hasOperation({ ops }: RunNames, wanted: string): boolean {
  for (const op of ops) if (isInside(op, wanted)) return true;
  return false;
}

/** Compares whole paths, then the last step alone: long paths are seldom near each other. */
function nearestOperation({ ops }: RunNames, wanted: string): string | undefined {
  return closest(wanted, ops) ?? [...ops].find((op) => op.endsWith(`/${wanted}`) || op.includes(`/${wanted}#`));
}

const TYPES = new Set(Object.keys(DURABILITY).flatMap((type) => [type, groupOf(type)]));

function groupOf(type: string): string {
  return type.slice(0, type.indexOf('.'));
}

function line({ run }: RunRef, option: string, given: string, near: string | undefined): string {
  return `note: nothing in ${run} matches ${option} ${given}${near === undefined || near === given ? '' : `; did you mean ${near}?`}\n`;
}
