/**
 * Checks those members of an event that reports use when they have read the run: whoever may record can write any line, and where a fold
 * only keeps a member, the report would fail on it later (READER-4). Members of events that this program doesn't know are not checked.
 */
import type { FactType, JournalEvent } from '../event.js';
import { endOfRun } from './end-of-run.js';

type Check = (value: unknown) => boolean;
type Checks = readonly (readonly [member: string, isFit: Check])[];

const text: Check = (value) => typeof value === 'string';
const list: Check = Array.isArray;
const object: Check = (value) => typeof value === 'object' && value !== null;
const optional =
  (isFit: Check): Check =>
  (value) =>
    value === undefined || isFit(value);
const payload: Check = (value) => object(value) && optional(text)((value as { readonly blob?: unknown }).blob);
const withMembers =
  (checks: { readonly [member: string]: Check }): Check =>
  (value) =>
    object(value) && unfitIn(value as Members, Object.entries(checks)) === undefined;

const RESULT_OF_RUN = withMembers({ run: text });
const CALL = { key: text, op: text };
const NODE = { op: text, node: text };
const OUTCOME = withMembers({ preferred_label: text, failure_reason: text, context_updates: object });

const MEMBERS: { readonly [type in FactType]?: { readonly [member: string]: Check } } = {
  'run.started': { flags: object },
  'source.loaded': { path: text, blob: optional(text) }, // a redaction takes the blob out
  'definition.recorded': { fn: text, parts: list },
  'op.started': { op: text, kind: text, site: optional(text) },
  'op.finished': { op: text },
  'call.started': { ...CALL, fn: text, args: payload, site: optional(text) },
  'call.completed': { ...CALL, result: payload },
  'call.offered': { ...CALL, fn: text },
  'call.withdrawn': CALL,
  'call.superseded': { ...CALL, by: RESULT_OF_RUN },
  'call.reused': { ...CALL, fn: text, from: RESULT_OF_RUN },
  'call.failed': { ...CALL, message: text, class: optional(text) },
  'effect.performed': { op: text, subject: text, file: optional(text), result: optional(payload) },
  'hook.fired': { op: text },
  'guard.decided': { op: text },
  'node.started': NODE,
  'node.finished': { ...NODE, status: text, outcome: OUTCOME },
  'edge.selected': { op: text, from: text, to: text },
};

const CHECKS: ReadonlyMap<string, Checks> = new Map(Object.entries(MEMBERS).map(([type, checks]) => [type, Object.entries(checks)]));

type Members = { readonly [member: string]: unknown };

/** Returns the first member that has another type than the event has it. */
export function unfitMember(event: JournalEvent): string | undefined {
  if (event.type === 'run.finished') return endOfRun(event) === undefined ? 'status, totals or error' : undefined;
  const checks = CHECKS.get(event.type);
  return checks && unfitIn(event as unknown as Members, checks);
}

function unfitIn(members: Members, checks: Checks): string | undefined {
  for (const [member, isFit] of checks) if (!isFit(members[member])) return member;
  return undefined;
}
