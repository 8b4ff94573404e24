/**
 * Checks the members of an event that reports use: whoever may record can write any line, and a fold that only keeps a member leaves it to
 * the report to fail on it. Members that this program doesn't know, and events that it doesn't know, are not checked.
 *
 * MEMBERS-1 Only reports leave lines out because of their members (`replay/reports/report-store.ts`). A redaction has to reach the texts in
 *    such a line, garbage collection what it names, and a resume the results before and behind it: these visit every line.
 */
import type { FactOf, FactType, JournalEvent } from '../event.js';
import { ownEventOf } from '../own-fact.js';
import { endOfRun } from './end-of-run.js';

type Check = (value: unknown) => boolean;
type Checks = readonly (readonly [member: string, isFit: Check])[];
type Members = { readonly [member: string]: unknown };

const text: Check = (value) => typeof value === 'string';
const number: Check = (value) => typeof value === 'number';
const object: Check = (value) => typeof value === 'object' && value !== null && !Array.isArray(value);
const time: Check = (value) => typeof value === 'string' && !Number.isNaN(Date.parse(value));
const optional =
  (isFit: Check): Check =>
  (value) =>
    value === undefined || isFit(value);
const listOf =
  (isFit: Check): Check =>
  (value) =>
    Array.isArray(value) && value.every(isFit);
const recordOf =
  (isFit: Check): Check =>
  (value) =>
    object(value) && Object.values(value as object).every(isFit);

function withMembers(members: { readonly [member: string]: Check }): Check {
  const checks = Object.entries(members);
  return (value) => object(value) && unfitIn(value as Members, checks) === undefined;
}

const [maybeText, maybeNumber, maybeTime, maybeTexts] = [optional(text), optional(number), optional(time), optional(listOf(text))];

const payload = withMembers({ blob: maybeText, sealed: maybeText, keyId: maybeText, digest: maybeText, redacted: maybeText });
const eventRef = withMembers({ run: text, seq: number });
const resultRef = withMembers({ run: text, seq: number, workflow: maybeText });
const ONE_USAGE = {
  model: maybeText,
  provider: maybeText,
  inputTokens: maybeNumber,
  cachedInputTokens: maybeNumber,
  cacheWriteTokens: maybeNumber,
  outputTokens: maybeNumber,
  reasoningTokens: maybeNumber,
  costUsd: maybeNumber,
  priceTable: maybeText,
  priceModel: maybeText,
  sessionCostUsd: maybeNumber,
};
const usage = withMembers({ ...ONE_USAGE, models: optional(listOf(withMembers(ONE_USAGE))) });
const files = optional(listOf(withMembers({ path: text, blob: maybeText, reason: maybeText })));
const reusedFiles = optional(listOf(withMembers({ path: text, did: text })));
const reply = optional(withMembers({ adapter: text }));
const CALL = { key: text, op: text };
const RESULT = {
  ...CALL,
  result: payload,
  form: maybeText,
  notes: optional(payload),
  labels: maybeTexts,
  sources: maybeTexts,
  removed: maybeTexts,
  elapsedMs: maybeNumber,
  usage: optional(usage),
  callUsage: optional(usage),
  insideUsd: maybeNumber,
  insideReusedUsd: maybeNumber,
  repeatedUsd: maybeNumber,
  unresolvedInside: maybeNumber,
  reply,
  session: maybeText,
  try: maybeNumber,
  files,
  outputs: files,
};
const SITES = { site: maybeText, declared: maybeText };
const NODE = { op: text, node: text, visit: number };
const ROUTING = { status: text, preferred_label: text, suggested_next_ids: listOf(text), failure_reason: text };
const outcome = withMembers({ ...ROUTING, context_updates: object, notes: text, carried: optional(withMembers(ROUTING)) });
const branch = optional(withMembers({ of: text, id: text, index: number }));
const option = withMembers({ key: text, label: text, target: maybeText });
const given = withMembers({
  root: maybeText,
  workingDirectory: maybeText,
  calls: optional(withMembers({ budget: optional(object) })),
  injected: optional(payload),
  state: optional(payload),
});

const MEMBERS: { readonly [Type in FactType]: { readonly [Member in Exclude<keyof FactOf<Type>, 'type'>]?: Check } } = {
  'run.started': {
    workflow: text,
    name: maybeText, // absent in runs of upkeep that other programs record
    argv: listOf(text),
    flags: object,
    forks: optional(listOf(withMembers({ workflow: text, run: maybeText, seq: maybeNumber }))),
    given: optional(given),
    settled: maybeTexts,
    versions: recordOf(text),
    host: text,
    user: maybeText,
    traceparent: maybeText,
    salvages: maybeText,
    worker: optional(withMembers({ for: text, name: text, lanes: optional(object) })),
    clock: maybeNumber,
    budgetTokens: maybeNumber,
    pipeline: maybeText,
    runDir: maybeText,
    backend: maybeText,
    gates: maybeTexts,
    resume: optional(eventRef),
    restartOf: maybeText,
    restarts: maybeNumber,
    unresolvedBefore: maybeNumber,
    enterAt: maybeText,
    parent: optional(withMembers({ run: text, node: maybeText, op: text })),
  },
  'source.loaded': {
    path: text,
    blob: maybeText, // a redaction takes it out
    role: text,
    whole: optional(payload),
    module: optional(withMembers({ name: text, version: maybeText, sha256: maybeText })),
  },
  'definition.recorded': {
    fn: text,
    fingerprint: text,
    parts: listOf(withMembers({ kind: text, name: text, digest: text, preview: maybeText })),
  },
  'op.started': {
    op: text,
    kind: text,
    name: maybeText,
    group: maybeText,
    ...SITES,
    labels: maybeTexts,
    item: maybeText,
    total: maybeNumber,
  },
  'op.finished': { op: text, outcome: text, message: maybeText },
  'call.started': {
    ...CALL,
    fn: text,
    ...SITES,
    args: payload,
    preview: maybeText,
    fingerprint: maybeText,
    attempt: maybeNumber,
    try: maybeNumber,
    lane: maybeText,
    reserved: optional(withMembers({ usd: maybeNumber, tokens: maybeNumber, shared: maybeTexts })),
    waitedMs: maybeNumber,
    outdated: maybeTexts,
    unfit: maybeText,
    gone: maybeTexts,
    refused: optional(eventRef),
    received: optional(eventRef),
    outputs: reusedFiles,
    files: reusedFiles,
    begun: optional(eventRef),
    worker: maybeText,
    workerHost: maybeText,
  },
  'call.completed': { ...RESULT, unusable: maybeText, class: maybeText, exitCode: maybeNumber },
  'result.received': { ...RESULT, sent: maybeText },
  'call.offered': { ...CALL, fn: text, ...SITES, lane: maybeText },
  'call.withdrawn': { ...CALL, try: maybeNumber, to: maybeText },
  'call.superseded': { ...CALL, of: number, by: eventRef },
  'call.reused': {
    ...CALL,
    fn: text,
    ...SITES,
    from: resultRef,
    worker: maybeText,
    workerHost: maybeText,
    workerUsd: maybeNumber,
    preview: maybeText,
    fingerprint: maybeText,
    savedUsd: maybeNumber,
    unresolvedInside: maybeNumber,
    outputs: reusedFiles,
    files: reusedFiles,
  },
  'call.failed': {
    ...CALL,
    fn: maybeText,
    message: text,
    code: maybeText,
    elapsedMs: maybeNumber,
    class: maybeText,
    evidence: maybeText,
    try: maybeNumber,
    retryInMs: maybeNumber,
    retryAfterMs: maybeNumber,
    resetsAt: maybeTime,
    status: maybeNumber,
    exitCode: maybeNumber,
    usage: optional(usage),
    callUsage: optional(usage),
    insideUsd: maybeNumber,
    insideReusedUsd: maybeNumber,
    repeatedUsd: maybeNumber,
    workerUsd: maybeNumber,
    reply,
    session: maybeText,
    problem: maybeTexts,
    upstream: maybeTexts,
    excerpt: optional(payload),
  },
  'lane.changed': { lane: text, limit: number, ceiling: maybeNumber, gapMs: maybeNumber, heldUntil: maybeTime, why: text },
  'dispatch.stopped': { class: text, lane: maybeText, op: maybeText, resetsAt: maybeTime, message: text },
  'dispatch.resumed': { lane: text },
  'result.rejected': { ...CALL, from: resultRef, reason: maybeText },
  'result.restored': { ...CALL, from: resultRef },
  'effect.performed': {
    op: text,
    kind: text,
    subject: text,
    request: maybeText,
    result: optional(payload),
    file: maybeText,
    error: maybeText,
    errorCode: maybeText,
    errorHint: maybeText,
    elapsedMs: maybeNumber,
  },
  'process.started': { op: text, group: number, started: text, boot: text },
  'hook.fired': { op: text, hook: text, timing: text, filter: text, elapsedMs: maybeNumber, error: maybeText, errorCode: maybeText },
  'guard.decided': { op: text, guard: text, timing: text, filter: text, decision: text, reason: maybeText },
  'checkpoint.reached': { name: text, resume: maybeText, ttlMs: maybeNumber },
  'checkpoint.closed': { name: text },
  'memo.invalidated': { selector: text, keys: listOf(text), during: optional(listOf(eventRef)) },
  'memo.reset': { reason: text, during: optional(listOf(eventRef)) },
  'node.started': { ...NODE, handler: text, branch, model: maybeText, thread: maybeText, branches: maybeNumber },
  'node.finished': { ...NODE, status: text, outcome, attempts: number, elapsedMs: number, branch, files: maybeTexts, excerpt: maybeText },
  'edge.selected': { op: text, from: text, to: text, via: text, label: maybeText, condition: maybeText, branch },
  'context.updated': { op: text, updates: object, by: text },
  'gate.checked': { op: text, gates: recordOf(text), node: maybeText, target: maybeText, within: maybeText },
  'retry.scheduled': { ...NODE, attempt: number, delayMs: number, reason: text, cause: text, answered: maybeNumber },
  'question.asked': {
    op: text,
    id: text,
    node: text,
    kind: text,
    text,
    options: listOf(option),
    default: maybeText,
    timeoutMs: maybeNumber,
  },
  'question.answered': { op: text, id: text, node: text, answer: text, by: text },
  'artifact.stored': { op: text, id: text, name: text, node: text, sizeBytes: number, payload },
  'artifact.removed': { op: text, id: text },
  'run.finished': {
    status: text,
    totals: object,
    error: optional(withMembers({ code: text, message: text, op: maybeText, location: maybeText })),
    pause: optional(withMembers({ class: text, lane: maybeText, resetsAt: maybeTime, message: text, leastBudget: maybeText })),
    lost: maybeNumber,
    marked: maybeText,
    next: maybeText,
    node: maybeText,
    gates: optional(recordOf(text)),
  },
};

const CHECKS: ReadonlyMap<string, Checks> = new Map(Object.entries(MEMBERS).map(([type, members]) => [type, Object.entries(members)]));

const NOTHING = {};

/** Returns the name of the first member that has another type than the event has it. */
export function unfitMember(event: JournalEvent): string | undefined {
  if (!time(event.ts)) return 'ts';
  const checks = CHECKS.get(event.type);
  if (checks === undefined) return payload(ownEventOf(event)?.data ?? NOTHING) ? undefined : 'data';
  const member = unfitIn(event as unknown as Members, checks);
  if (member !== undefined || event.type !== 'run.finished') return member;
  return endOfRun(event) === undefined ? 'totals, worker or salvages' : undefined;
}

function unfitIn(members: Members, checks: Checks): string | undefined {
  for (const [member, isFit] of checks) if (!isFit(members[member])) return member;
  return undefined;
}
