/**
 * Counts the retries of pipeline stages as attempts of their calls, and knows which failed stages the graph deals with. Each attempt of a
 * stage makes its call under a path of its own, but where the stage has a retry budget these calls are the attempts of one. calls.md 16
 * and 17.
 */
import type { EventOf } from '../../../journal/event.js';
import type { CallKey, OpPath } from '../../../journal/ids.js';

/** A call of a stage that failed, and may be made again by the next attempt of the stage. */
export interface FailedInStage<F> {
  readonly op: OpPath;
  readonly key: CallKey;
  readonly failed: F;
}

export interface StageRetries<F> {
  /** By the path of the node. */
  readonly failures: Map<string, FailedInStage<F>[]>;
  /** Paths of attempts of stages that repeat failed calls, with the attempt that made these. */
  readonly repeated: Map<string, string>;
  /** Paths of the visits that failed and that no transition followed yet, by the path of their walk and their node. */
  readonly failedVisits: Map<string, OpPath>;
}

export function noStageRetries<F>(): StageRetries<F> {
  return { failures: new Map(), repeated: new Map(), failedVisits: new Map() };
}

/** `main/pump#0/try#2/model#0` is in the attempt `main/pump#0/try#2` of the node `main/pump#0`. */
const IN_ATTEMPT = /^((.*)\/try#\d+)(?:\/|$)/;

/** Returns the path of the node whose attempt makes the call; undefined for a call of a script. */
export function stageOf(op: OpPath): string | undefined {
  return IN_ATTEMPT.exec(op)?.[2];
}

export function failInStage<F>({ failures }: StageRetries<F>, op: OpPath, key: CallKey, failed: F): void {
  const node = stageOf(op);
  if (node === undefined) return;
  const known = failures.get(node);
  if (known) known.push({ op, key, failed });
  else failures.set(node, [{ op, key, failed }]);
}

/** Returns the failed calls that the coming attempt makes again: for a parallel node those of the stages that it cut off. */
export function retryStage<F>(state: StageRetries<F>, { op, attempt }: EventOf<'retry.scheduled'>): readonly FailedInStage<F>[] {
  const { failures, repeated, failedVisits } = state;
  if (failures.size === 0) return [];
  const ended = [...failedVisits.values()].filter((visit) => isInBranch(visit, op));
  const again = [...failures].filter(([node]) => node === op || (isInBranch(node, op) && !ended.some((visit) => isOf(node, visit))));
  for (const [node, calls] of again) {
    const before = attemptOf(calls.at(-1)?.op);
    repeated.set(node === op ? `${op}/try#${attempt + 1}` : `${op}${nextVisits(node.slice(op.length))}/try#1`, before);
    failures.delete(node);
  }
  return again.flatMap(([, failed]) => failed);
}

/** True for the visit itself, and for those in the branches of a parallel node. */
function isOf(node: string, visit: OpPath): boolean {
  return node === visit || isInBranch(node, visit);
}

function isInBranch(node: string, parallel: OpPath): boolean {
  return node.startsWith(`${parallel}[`);
}

/** Returns the path in which a stage that was cut off runs again: `[1]/in#0[0]/x#0` becomes `[1]/in#1[0]/x#1`. */
function nextVisits(path: string): string {
  return path.replaceAll(/#(\d+)(?=\[|$)/g, (_, visit: string) => `#${Number(visit) + 1}`);
}

export function isRepeated<F>({ repeated }: StageRetries<F>, op: OpPath): boolean {
  return repeated.size > 0 && repeated.has(attemptOf(op));
}

/** Returns the path at which the attempt before of the stage made the same call; undefined where there is none. */
export function callBefore<F>({ repeated }: StageRetries<F>, op: OpPath): OpPath | undefined {
  const attempt = attemptOf(op);
  const before = repeated.get(attempt);
  return before === undefined ? undefined : (`${before}${op.slice(attempt.length)}` as OpPath);
}

function attemptOf(op: OpPath | undefined): string {
  return IN_ATTEMPT.exec(op ?? '')?.[1] ?? '';
}

/** Keeps the failed calls of a visit that failed, in case the graph leads on from it. Nothing deals with those of another one any more. */
export function endVisit<F>({ failures, failedVisits }: StageRetries<F>, { op, node, status }: EventOf<'node.finished'>): void {
  const visit = `${walkOf(op)} ${node}`;
  const calls = callsOf(failures, op);
  if (status === 'fail' && calls.length > 0) failedVisits.set(visit, op);
  else {
    failedVisits.delete(visit);
    for (const [inner] of calls) failures.delete(inner);
  }
}

/** Returns the failed calls of the stage that the transition leaves. */
export function leaveStage<F>(state: StageRetries<F>, walk: OpPath, node: string): readonly FailedInStage<F>[] {
  const visit = `${walk} ${node}`;
  const op = state.failedVisits.get(visit);
  if (op === undefined) return [];
  state.failedVisits.delete(visit);
  const calls = callsOf(state.failures, op);
  for (const [node] of calls) state.failures.delete(node);
  return calls.flatMap(([, failed]) => failed);
}

/** Returns the failed calls of visits in the branches of a parallel node that ended as failed, and from which nothing leads on. */
export function failedInBranches<F>({ failures, failedVisits }: StageRetries<F>, parallel: OpPath): ReadonlySet<FailedInStage<F>> {
  const ended = [...failedVisits.values()].filter((visit) => isInBranch(visit, parallel));
  return new Set(ended.flatMap((visit) => callsOf(failures, visit).flatMap(([, failed]) => failed)));
}

/** Returns the failed calls of a visit, with those in the branches of a parallel node. */
function callsOf<F>(failures: StageRetries<F>['failures'], op: OpPath): readonly (readonly [string, readonly FailedInStage<F>[]])[] {
  return failures.size === 0 ? [] : [...failures].filter(([node]) => isOf(node, op));
}

/** `main/pump#0` belongs to the walk `main`. */
function walkOf(op: OpPath): string {
  return op.slice(0, Math.max(0, op.lastIndexOf('/')));
}
