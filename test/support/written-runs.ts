/** Hand-written runs: facts in, journal entries out, as a store would hand them to a fold. */
import { JOURNAL_VERSION, type Fact, type JournalEvent, type Json } from '../../journal/event.js';
import { opPath, runIdAt, seqOf, workflowOf, type CallKey, type Fingerprint, type RunRef, type Workflow } from '../../journal/ids.js';
import type { Entry } from '../../replay/fold/projection.js';

export const JOB = workflowOf('job.mld');
const START_MS = Date.UTC(2026, 0, 1);
const BYTES_PER_EVENT = 100;

/** The n-th run of a workflow. */
export function runRef(number: number, workflow: Workflow = JOB): RunRef {
  return { workflow, run: runIdAt(START_MS + number * 60_000, '0000') };
}

export function key(text: string): CallKey {
  return `sha256:${Buffer.from(text).toString('hex').padEnd(64, '0').slice(0, 64)}` as CallKey;
}

export const FINGERPRINT = `sha256:${'f'.repeat(64)}` as Fingerprint;

export function started(ref: RunRef): Fact {
  return {
    type: 'run.started',
    workflow: ref.workflow,
    name: 'job',
    argv: [],
    payload: {},
    flags: { checkpoint: true },
    versions: { mlld: '0.1.0', node: '20.20.0' },
    host: 'here',
    pid: 1,
  };
}

export function finished(status: 'completed' | 'failed' | 'paused' | 'interrupted' = 'completed'): Fact {
  return { type: 'run.finished', status, totals: { executed: 0, reused: 0, failed: 0 } };
}

/** Facts with their places; positions are made up, but different for every event of a run. */
export function entries(ref: RunRef, facts: readonly Fact[]): Entry[] {
  return facts.map((fact, number) => {
    const ts = new Date(START_MS + number * 1000).toISOString();
    const event = { ...fact, v: JOURNAL_VERSION, seq: seqOf(number), ts, hash: '' } as JournalEvent;
    return { event, place: { ref, position: { offset: number * BYTES_PER_EVENT, bytes: BYTES_PER_EVENT - 1 } } };
  });
}

interface CallOptions {
  readonly fn?: string;
  readonly site?: string;
  readonly declared?: string;
  /** The end of the call; by default it completes with a text. */
  readonly outcome?: 'completed' | 'reused' | 'failed' | 'unusable' | 'killed';
}

/** A call as `perform` records it; its key is made of the function and its one argument. */
export function call(
  path: string,
  argument: Json,
  { fn = 'ask', site = 'job.mld:1:1', declared, outcome = 'completed' }: CallOptions = {},
): Fact[] {
  const op = opPath(path);
  const callKey = key(`${fn} ${JSON.stringify(argument)}`);
  const where = { op, site, ...(declared !== undefined && { declared }) };
  const begin: Fact = { type: 'op.started', kind: 'exe', name: fn, labels: ['llm'], ...where };
  const end = (result: 'ok' | 'reused' | 'failed'): Fact => ({ type: 'op.finished', op, outcome: result });
  if (outcome === 'reused') {
    const from = { run: runRef(0).run, seq: seqOf(0) };
    return [begin, { type: 'call.reused', key: callKey, fn, ...where, from, fingerprint: FINGERPRINT }, end('reused')];
  }
  const begun: Fact = { type: 'call.started', key: callKey, fn, ...where, args: { inline: [argument] }, fingerprint: FINGERPRINT };
  if (outcome === 'killed') return [begin, begun];
  if (outcome === 'failed') return [begin, begun, { type: 'call.failed', key: callKey, op, message: 'no', elapsedMs: 1 }, end('failed')];
  const unusable = outcome === 'unusable' ? { unusable: 'its command ended with status 1' } : {};
  return [
    begin,
    begun,
    { type: 'call.completed', key: callKey, op, result: { inline: `A:${JSON.stringify(argument)}` }, elapsedMs: 5, ...unusable },
    end('ok'),
  ];
}

/** The key that `call` makes of a function and its argument. */
export function callKeyOf(argument: Json, fn = 'ask'): CallKey {
  return key(`${fn} ${JSON.stringify(argument)}`);
}

/** An operation around others. */
export function inside(
  path: string,
  begin: Partial<Fact & { type: 'op.started' }> & { readonly kind: string },
  facts: readonly Fact[],
): Fact[] {
  const op = opPath(path);
  return [{ ...begin, type: 'op.started', op }, ...facts, { type: 'op.finished', op, outcome: 'ok' }];
}

/** A loop over items, one after the other. */
export function loop(path: string, items: readonly string[], body: (item: string, iteration: string) => Fact[]): Fact[] {
  return inside(
    path,
    { kind: 'for', total: items.length },
    items.flatMap((item, index) => inside(`${path}[${index}]`, { kind: 'for:iteration', item }, body(item, `${path}[${index}]`))),
  );
}

/** A whole run in order. */
export function run(ref: RunRef, ...facts: readonly Fact[][]): Entry[] {
  return entries(ref, [started(ref), ...facts.flat(), finished()]);
}
