/** Random runs that could have happened: several calls in flight, loops, crashes, invalidations, checkpoints. */
import fc from 'fast-check';
import type { Fact } from '../../journal/event.js';
import { opPath, seqOf, type OpPath } from '../../journal/ids.js';
import type { Entry } from '../../replay/fold/projection.js';
import { entries, FINGERPRINT, finished, callKeyOf, runRef, started } from './written-runs.js';

/** One thing that a script might do next; `pick` chooses among what is possible. */
interface Step {
  readonly act:
    | 'open'
    | 'iterate'
    | 'ask'
    | 'reuse'
    | 'answer'
    | 'receive'
    | 'deny'
    | 'fail'
    | 'spoil'
    | 'withdraw'
    | 'close'
    | 'checkpoint'
    | 'invalidate'
    | 'refuse'
    | 'reset'
    | 'reject'
    | 'restore';
  readonly pick: number;
}

const ACTS = [
  'open',
  'iterate',
  'ask',
  'ask',
  'ask',
  'reuse',
  'answer',
  'answer',
  'answer',
  'receive',
  'receive',
  'deny',
  'fail',
  'spoil',
  'withdraw',
  'close',
  'close',
  'checkpoint',
  'invalidate',
  'refuse',
  'reset',
  'reject',
  'restore',
] as const;
const TEXTS = ['ebb', 'flow', 'slack', 'neap', 'spring'] as const;
const FUNCTIONS = ['ask', 'judge'] as const;

const anyStep: fc.Arbitrary<Step> = fc.record({ act: fc.constantFrom(...ACTS), pick: fc.nat(999) });

/** One run: its facts in order, ended or cut off by a crash. Legal by construction. */
export const anyFacts: fc.Arbitrary<readonly Fact[]> = fc
  .record({ steps: fc.array(anyStep, { maxLength: 60 }), crashes: fc.boolean() })
  .map(({ steps, crashes }) => play(steps, crashes));

/** One run as a store would hand it to a fold. */
export const anyRun: fc.Arbitrary<Entry[]> = anyFacts.map((facts) => entries(runRef(1), facts));

/** The runs of one workflow, oldest first. */
export const anyRuns: fc.Arbitrary<Entry[][]> = fc
  .array(anyFacts, { maxLength: 4 })
  .map((runs) => runs.map((facts, number) => entries(runRef(number + 1), facts)));

interface Open {
  readonly op: OpPath;
  /** The argument of a call that is in flight. */
  readonly asks?: { readonly fn: string; readonly text: string };
}

function play(steps: readonly Step[], crashes: boolean): Fact[] {
  const ref = runRef(1);
  const facts: Fact[] = [started(ref)];
  const ordinals = new Map<string, number>();
  let open: Open[] = [];
  let checkpoint: string | undefined;
  /** Calls whose results guards judge. */
  const judged = new Set<OpPath | undefined>();

  const choose = <Item>(items: readonly Item[], pick: number): Item | undefined => items[pick % Math.max(items.length, 1)];
  const ordinal = (parent: string): number => {
    const next = ordinals.get(parent) ?? 0;
    ordinals.set(parent, next + 1);
    return next;
  };
  const containers = (): Open[] => open.filter(({ asks }) => asks === undefined);
  const calls = (): Open[] => open.filter(({ asks }) => asks !== undefined);
  const parent = (pick: number): string => choose(containers(), pick)?.op ?? 'main';
  const end = (ended: Open, outcome: 'ok' | 'failed'): void => {
    facts.push({ type: 'op.finished', op: ended.op, outcome });
    open = open.filter((other) => other !== ended);
  };
  const question = (pick: number) => ({ fn: FUNCTIONS[pick % FUNCTIONS.length]!, text: TEXTS[pick % TEXTS.length]! });
  const begin = (pick: number): { readonly op: OpPath; readonly fn: string; readonly text: string; readonly site: string } => {
    const { fn, text } = question(pick);
    const around = parent(pick);
    const op = opPath(`${around}/${fn}#${ordinal(`${around}/${fn}`)}`);
    const site = `job.mld:${pick % 3}:1`;
    facts.push({ type: 'op.started', op, kind: 'exe', name: fn, site, labels: ['llm'] });
    return { op, fn, text, site };
  };
  const finishCall = (pick: number, act: 'answer' | 'deny' | 'fail' | 'spoil'): void => {
    const call = choose(calls(), pick);
    if (call?.asks === undefined) return;
    const { fn, text } = call.asks;
    const key = callKeyOf(text, fn);
    const denied = act === 'deny' ? { denied: true as const } : {};
    if (act === 'fail' || act === 'deny') facts.push({ type: 'call.failed', key, op: call.op, message: 'no', elapsedMs: 1, ...denied });
    else {
      const unusable = act === 'spoil' ? { unusable: 'status 1' } : {};
      const form = pick % 3 === 0 ? {} : { form: pick % 3 === 1 ? ('text' as const) : ('word' as const) };
      const carried = pick % 4 === 0 ? { labels: ['pii'] } : {};
      const result = { inline: `${text} ${pick}` };
      facts.push({ type: 'call.completed', key, op: call.op, result, ...form, ...carried, elapsedMs: pick, ...unusable });
    }
    end(call, act === 'fail' || act === 'deny' ? 'failed' : 'ok');
  };
  /** A run does not reject results itself; that these are its own makes the marks concern something. */
  const results = () =>
    facts.flatMap((fact, seq) =>
      fact.type === 'call.completed' ? [{ key: fact.key, op: fact.op, from: { run: ref.run, seq: seqOf(seq) } }] : [],
    );
  const isLeaf = ({ op }: Open): boolean =>
    open.every((other) => other.op === op || !(other.op.startsWith(`${op}/`) || other.op.startsWith(`${op}[`)));

  const acts: { readonly [A in Step['act']]: (pick: number) => void } = {
    open(pick) {
      const around = parent(pick);
      const isLoop = pick % 2 === 0;
      const name = isLoop ? 'for' : 'survey';
      const op = opPath(`${around}/${name}#${ordinal(`${around}/${name}`)}`);
      facts.push(
        isLoop ? { type: 'op.started', op, kind: 'for', total: 9 } : { type: 'op.started', op, kind: 'exe', name, site: 'job.mld:9:1' },
      );
      open.push({ op });
    },
    iterate(pick) {
      const loop = choose(
        containers().filter(({ op }) => /\/for#\d+$/.test(op)),
        pick,
      );
      if (loop === undefined) return;
      const op = opPath(`${loop.op}[${ordinal(`${loop.op}[`)}]`);
      facts.push({ type: 'op.started', op, kind: 'for:iteration', item: TEXTS[pick % TEXTS.length]! });
      open.push({ op });
    },
    ask(pick) {
      const { op, fn, text, site } = begin(pick);
      facts.push({ type: 'call.started', key: callKeyOf(text, fn), op, fn, site, args: { inline: [text] }, fingerprint: FINGERPRINT });
      open.push({ op, asks: { fn, text } });
    },
    reuse(pick) {
      const { op, fn, text, site } = begin(pick);
      facts.push({ type: 'call.reused', key: callKeyOf(text, fn), op, fn, site, from: { run: runRef(0).run, seq: seqOf(1) } });
      facts.push({ type: 'op.finished', op, outcome: 'reused' });
    },
    answer: (pick) => finishCall(pick, 'answer'),
    receive(pick) {
      const call = choose(calls(), pick);
      if (call?.asks === undefined) return;
      const { fn, text } = call.asks;
      const result = { inline: `${text} ${pick}` };
      judged.add(call.op);
      facts.push({ type: 'result.received', key: callKeyOf(text, fn), op: call.op, result, elapsedMs: pick });
    },
    deny(pick) {
      if (judged.has(choose(calls(), pick)?.op)) finishCall(pick, 'deny');
    },
    fail: (pick) => finishCall(pick, 'fail'),
    spoil: (pick) => finishCall(pick, 'spoil'),
    withdraw(pick) {
      const call = choose(calls(), pick);
      if (call?.asks === undefined) return;
      const { fn, text } = call.asks;
      const key = callKeyOf(text, fn);
      const other = runRef(0).run;
      facts.push({ type: 'call.withdrawn', key, op: call.op, to: other });
      facts.push({ type: 'call.reused', key, op: call.op, fn, from: { run: other, seq: seqOf(1) } });
      facts.push({ type: 'op.finished', op: call.op, outcome: 'reused' });
      open = open.filter((each) => each !== call);
    },
    close(pick) {
      const leaf = choose(containers().filter(isLeaf), pick);
      if (leaf !== undefined) end(leaf, 'ok');
    },
    checkpoint(pick) {
      if (checkpoint !== undefined) facts.push({ type: 'checkpoint.closed', name: checkpoint, complete: pick % 2 === 0 });
      checkpoint = `phase ${facts.length}`;
      facts.push({ type: 'checkpoint.reached', name: checkpoint });
    },
    invalidate(pick) {
      const { fn, text } = question(pick);
      facts.push({ type: 'memo.invalidated', selector: `@${fn}`, keys: [callKeyOf(text, fn)] });
    },
    refuse(pick) {
      const { fn, text } = question(pick);
      facts.push({ type: 'memo.invalidated', selector: `@${fn}`, keys: [callKeyOf(text, fn)], borrowed: true });
    },
    reject(pick) {
      const result = choose(results(), pick);
      if (result !== undefined) facts.push({ type: 'result.rejected', ...result, reason: `${pick}` });
    },
    restore(pick) {
      const result = choose(results(), pick);
      if (result !== undefined) facts.push({ type: 'result.restored', ...result });
    },
    reset(pick) {
      if (pick % 5 === 0) facts.push({ type: 'memo.reset', reason: pick % 2 === 0 ? 'fresh' : 'clean' });
    },
  };

  for (const { act, pick } of steps) acts[act](pick);
  if (crashes) return facts;
  while (calls().length > 0) finishCall(0, 'answer');
  while (open.length > 0) end(open.find(isLeaf)!, 'ok');
  return [...facts, finished()];
}
