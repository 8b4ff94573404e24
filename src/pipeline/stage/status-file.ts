/** Parses and renders `status.json`, in which a program may report the outcome of its stage. graph-pipelines.md 8.3. */
import type { Json } from '../../../journal/event.js';
import { isObject } from '../../../journal/json-object.js';
import { messageOf } from '../../errors.js';
import { StageError, type StageOutcome, type StageStatus, type Updates } from '../model/outcome.js';

export const STATUSES: readonly string[] = ['success', 'partial_success', 'retry', 'fail'] satisfies StageStatus[];

export interface StatusReport {
  readonly status: StageStatus;
  readonly preferred_label: string;
  readonly suggested_next_ids: readonly string[];
  readonly context_updates: Updates;
  readonly notes: string;
  readonly failure_reason: string;
}

/** Throws a transient `StageError` that names the defect. */
export function parseStatus(text: string): StatusReport {
  let parsed: unknown;
  try {
    parsed = JSON.parse(text.replace(/^\uFEFF/, ''));
  } catch {
    throw refusal(STATUS_FILE, 'it is not JSON');
  }
  return statusReport(parsed);
}

const STATUS_FILE = 'the status file';

/**
 * Reads the parsed content of a status file, an outcome that a script returned as an object, and one at the end of a reply. `what` names
 * it in errors. Throws as `parseStatus`.
 */
export function statusReport(value: unknown, what = STATUS_FILE): StatusReport {
  const malformed = (why: string): StageError => refusal(what, why);
  const text = (member: string, written: unknown): string => {
    if (written === undefined) return '';
    if (typeof written === 'string') return written;
    throw malformed(`its "${member}" has to be a string`);
  };
  if (!isObject(value)) throw malformed('it is not an object');
  const { outcome, preferred_next_label, suggested_next_ids, context_updates, notes, failure_reason } = value;
  const { preferred_label = preferred_next_label } = value; // programs of other engines have the longer name
  if (outcome === undefined) throw malformed('it has no "outcome"');
  if (typeof outcome !== 'string' || !STATUSES.includes(outcome)) throw malformed(`its "outcome" has to be one of ${STATUSES.join(', ')}`);
  if (suggested_next_ids !== undefined && !isTexts(suggested_next_ids))
    throw malformed('its "suggested_next_ids" has to be a list of strings');
  if (context_updates !== undefined && !isObject(context_updates)) throw malformed('its "context_updates" has to be an object');
  return {
    status: outcome as StageStatus,
    preferred_label: text(value['preferred_label'] === undefined ? 'preferred_next_label' : 'preferred_label', preferred_label),
    suggested_next_ids: suggested_next_ids ?? [],
    context_updates: (context_updates ?? {}) as Updates,
    notes: text('notes', notes),
    failure_reason: text('failure_reason', failure_reason),
  };
}

const OWN_STATUSES: readonly string[] = [...STATUSES, 'skipped'];

/**
 * Reads the outcome that code of the embedding program returned, since types do not guard a program in JavaScript: members may be missing,
 * and updates become JSON, as in the record. Throws as `parseStatus`.
 */
export function ownOutcome(value: unknown, what: string): StageOutcome {
  if (!isObject(value)) throw refusal(what, 'it is not an object');
  const { status, carried, context_updates = {} } = value as Partial<StageOutcome>;
  if (status === undefined || !OWN_STATUSES.includes(status))
    throw refusal(what, `its "status" has to be one of ${OWN_STATUSES.join(', ')}`);
  const report = statusReport({ ...value, outcome: STATUSES[0], context_updates: asJson(context_updates, what) }, what);
  return { ...report, status, ...(carried && { carried }) };
}

function asJson(updates: unknown, what: string): Json {
  try {
    return JSON.parse(JSON.stringify(updates)) as Json;
  } catch (error) {
    throw refusal(what, `its "context_updates" are not JSON: ${messageOf(error)}`);
  }
}

/** Writes six members in a fixed order, indented by two spaces, with a final line end. */
export function renderStatus(outcome: StageOutcome): string {
  const { status, preferred_label, suggested_next_ids, context_updates, notes, failure_reason } = outcome;
  const members = { outcome: status, preferred_label, suggested_next_ids, context_updates, notes, failure_reason };
  return `${JSON.stringify(members, undefined, 2)}\n`;
}

function refusal(what: string, why: string): StageError {
  return new StageError('transient', `${what} can't be used: ${why}`);
}

const isTexts = (value: unknown): value is readonly string[] => Array.isArray(value) && value.every((item) => typeof item === 'string');
