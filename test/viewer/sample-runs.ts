/** Made-up runs of a workflow with thousands of calls: two loops side by side, failures, retries, reused results, hooks and guards. */
import type { Fact, Json } from '../../journal/event.js';
import { opPath, seqOf, workflowOf, type OpPath, type RunRef } from '../../journal/ids.js';
import type { JournalStore } from '../../journal/store.js';
import { FINGERPRINT, key, runRef, started } from '../support/written-runs.js';

export const TRIAGE = workflowOf('llm/run/triage.mld');
const START_MS = Date.UTC(2026, 0, 5, 22, 0);
const SLOTS = 12;

const SCRIPT = `/exe llm @extract(ticket) = prompt "Extract product, version and mood: @ticket"
/exe llm @review(ticket, facts) = prompt \`
  Judge how urgent this ticket is, from 1 to 5, with a reason.
  @ticket
  @facts
\` with { retries: 3, schema: @urgency }
/exe llm @judge(left, right) = prompt "Which of the two is more urgent?"

/var @tickets = <tickets/*.md>
/hook @count after @review = [ run { echo reviewed >> out/progress.log } ]
/guard @private before llm = when [ @input.any.ctx.labels.has("pii") => deny "a ticket names a person" ]

/var @facts = for 12 parallel @ticket in @tickets => @extract(@ticket)
/checkpoint "extracted"
/var @reviews = for 12 parallel @ticket in @tickets => @review(@ticket, @facts)
/checkpoint "reviewed"
/var @order = for 12 parallel @pair in @pairs(@reviews) => @judge(@pair.left, @pair.right)
/output @order to "out/order.json"
/show \`@order.length tickets are in order\`
`;

/** Milliseconds since the run began. */
type TimedFact = readonly [at: number, fact: Fact];

export interface Sample {
  readonly calls: number;
  /** The calls whose results are reused from the run before it: every third one of the first so many. */
  readonly reused: number;
  /** Ends as a failed run with calls left in flight. */
  readonly isCut?: boolean;
}

/** Records two runs, of which the second reuses results of the first. Returns the second one. */
export async function recordTriage(store: JournalStore, sample: Sample): Promise<RunRef> {
  const before = runRef(1, TRIAGE);
  const reusable = await record(
    store,
    before,
    runOf(before, { calls: sample.reused, reused: 0, isCut: true }, new Map()),
    START_MS - 3_600_000,
  );
  const ref = runRef(2, TRIAGE);
  await record(store, ref, runOf(ref, sample, reusable), START_MS);
  return ref;
}

/** Returns the number of the event that recorded the result of each call. */
async function record(
  store: JournalStore,
  ref: RunRef,
  facts: readonly TimedFact[],
  startMs: number,
): Promise<ReadonlyMap<string, number>> {
  const journal = await store.create(ref);
  const blob = await store.putBlob(SCRIPT);
  const results = new Map<string, number>();
  const present = Date.now;
  try {
    for (const [at, fact] of facts) {
      Date.now = () => startMs + at;
      const whole: Fact = fact.type === 'source.loaded' ? { ...fact, blob: blob.blob } : fact;
      const { seq } = journal.post(whole);
      if (fact.type === 'call.completed') results.set(fact.key, seq);
    }
  } finally {
    Date.now = present;
  }
  await journal.close();
  return results;
}

interface Stage {
  readonly fn: string;
  readonly share: number;
  readonly line: number;
  readonly usualMs: number;
  readonly model: string;
  readonly usd: number;
}

const STAGES: readonly Stage[] = [
  { fn: 'extract', share: 0.3, line: 13, usualMs: 900, model: 'claude-haiku-4-5', usd: 0.0008 },
  { fn: 'review', share: 0.6, line: 15, usualMs: 4200, model: 'claude-sonnet-4-5', usd: 0.011 },
  { fn: 'judge', share: 0.1, line: 17, usualMs: 2500, model: 'claude-opus-4-5', usd: 0.04 },
];

function runOf(ref: RunRef, { calls, isCut = false }: Sample, reusable: ReadonlyMap<string, number>): readonly TimedFact[] {
  const random = randomFrom(7);
  const facts: TimedFact[] = [
    [
      0,
      {
        ...(started(ref) as Fact & { type: 'run.started' }),
        name: 'triage',
        argv: ['triage', '--checkpoint', '--budget', '50usd', 'day=monday'],
        payload: { day: 'monday' },
      },
    ],
    [2, { type: 'source.loaded', path: ref.workflow, blob: '' as never, role: 'script' }],
  ];
  let now = 20;
  let made = 0;
  for (const [number, stage] of STAGES.entries()) {
    const count = Math.max(1, Math.round(calls * stage.share));
    const loop = opPath(`main/for#${number}`);
    facts.push([now, { type: 'op.started', op: loop, kind: 'for', total: count, site: `${ref.workflow}:${stage.line}:1` }]);
    const free = Array.from({ length: SLOTS }, () => now);
    for (let index = 0; index < count; index++) {
      const slot = free.indexOf(Math.min(...free));
      const isLast = isCut && number === STAGES.length - 1 && index >= count - 3;
      free[slot] = callOf(facts, { ref, stage, loop, index, from: free[slot] as number, random, reusable, isLast });
      made += 1;
    }
    now = Math.max(...free) + 5;
    if (isCut && number === STAGES.length - 1) break;
    facts.push([now, { type: 'op.finished', op: loop, outcome: 'ok' }]);
    if (number < 2) facts.push([now, { type: 'checkpoint.reached', name: number === 0 ? 'extracted' : 'reviewed' }]);
  }
  const write = {
    kind: 'stream.write',
    subject: `stdout: ${made} tickets`,
    request: 'x',
    result: { inline: `${made} tickets are in order\n` },
  };
  if (!isCut) facts.push([now + 3, { type: 'effect.performed', op: opPath('main/show#0'), ...write }]);
  facts.push([
    now + 5,
    {
      type: 'run.finished',
      status: isCut ? 'failed' : 'completed',
      ...(isCut ? { error: CUT } : {}),
      totals: { executed: made, reused: 0, failed: 0 },
    },
  ]);
  return facts.sort(([left], [right]) => left - right);
}

const CUT = { code: 'CALL_FAILED', message: '@judge: the provider is overloaded', location: `${TRIAGE}:17:61` };

interface MadeCall {
  readonly ref: RunRef;
  readonly stage: Stage;
  readonly loop: OpPath;
  readonly index: number;
  readonly from: number;
  readonly random: () => number;
  readonly reusable: ReadonlyMap<string, number>;
  readonly isLast: boolean;
}

/** Adds the facts of one call, and returns when it ended. */
function callOf(facts: TimedFact[], { ref, stage, loop, index, from, random, reusable, isLast }: MadeCall): number {
  const { fn } = stage;
  const iteration = opPath(`${loop}[${index}]`);
  const op = opPath(`${iteration}/${fn}#0`);
  const args = argumentsOf(fn, index);
  const callKey = key(`${fn} ${index}`);
  const site = `${ref.workflow}:${stage.line}:61`;
  const common = { op, key: callKey };
  facts.push([from, { type: 'op.started', op: iteration, kind: 'for:iteration', item: ticket(index) }]);
  facts.push([from, { type: 'op.started', op, kind: 'exe', name: fn, site, labels: ['llm'] }]);
  const seq = reusable.get(callKey);
  const end = (at: number, outcome: 'ok' | 'reused' | 'failed' | 'denied', message?: string): number => {
    facts.push([at, { type: 'op.finished', op, outcome, ...(message !== undefined && { message }) }]);
    facts.push([at, { type: 'op.finished', op: iteration, outcome: outcome === 'ok' || outcome === 'reused' ? 'ok' : 'failed' }]);
    return at;
  };
  if (seq !== undefined && index % 3 !== 1) {
    const origin = { run: runRef(1, TRIAGE).run, seq: seqOf(seq) };
    facts.push([
      from,
      { type: 'call.reused', ...common, fn, site, from: origin, fingerprint: FINGERPRINT, preview: ticket(index), savedUsd: stage.usd },
    ]);
    return end(from + 1, 'reused');
  }
  const begun = { type: 'call.started', ...common, fn, site, args: { inline: args }, fingerprint: FINGERPRINT, lane: stage.model } as const;
  const ms = Math.round(stage.usualMs * (0.4 + random() * 1.1 + (random() < 0.02 ? 6 * random() : 0)));
  facts.push([from, { ...begun, ...(random() < 0.3 && { waitedMs: Math.round(random() * 800) }) }]);
  if (isLast) return from + ms;
  const usage = {
    model: stage.model,
    provider: 'anthropic',
    inputTokens: 900 + Math.round(random() * 500),
    outputTokens: 120 + Math.round(random() * 300),
  };
  const priced = { ...usage, costUsd: stage.usd * (0.6 + random()) };
  const luck = random();
  if (fn === 'review' && luck < 0.004) {
    facts.push([
      from,
      {
        type: 'guard.decided',
        op,
        guard: 'private',
        timing: 'before',
        filter: 'llm',
        decision: 'deny',
        reason: 'a ticket names a person',
        transformed: false,
      },
    ]);
    facts.push([from + 2, { type: 'call.failed', ...common, message: 'a ticket names a person', denied: true, elapsedMs: 2 }]);
    return end(from + 2, 'denied', 'a ticket names a person');
  }
  if (luck < 0.02) {
    const [failure, message] = FAILURES[Math.floor(random() * FAILURES.length)] as readonly ['timeout', string];
    facts.push([from + ms, { type: 'call.failed', ...common, message, class: failure, elapsedMs: ms, usage: priced }]);
    return end(from + ms, 'failed', message);
  }
  let at = from;
  if (luck < 0.06) {
    at = from + 800;
    const rejected = { class: 'rate-limit', status: 429, message: '429 Too Many Requests', retryInMs: 1500, elapsedMs: 800 } as const;
    facts.push([at, { type: 'call.failed', ...common, ...rejected }]);
    at += 1500;
    facts.push([at, { ...begun, try: 2 }]);
  }
  at += ms;
  facts.push([at, { type: 'call.completed', ...common, result: { inline: resultOf(fn, index, random) }, elapsedMs: ms, usage: priced }]);
  if (fn === 'review')
    facts.push([at, { type: 'hook.fired', op, hook: 'count', timing: 'after', filter: '@review', transformed: false, elapsedMs: 3 }]);
  return end(at + 1, 'ok');
}

const FAILURES = [
  ['timeout', 'no reply within 60s: the attempt timed out'],
  ['bad-reply', 'the reply is not valid JSON: Unexpected token S in JSON at position 0'],
  ['overloaded', 'the provider is overloaded (529)'],
] as const;

const SUBJECTS = [
  'Pump stops at high tide',
  'Invoice has no number',
  'App is closed by a long name',
  'Login asks for the code twice',
  'Export loses the umlauts',
];

function ticket(index: number): string {
  return `Ticket ${String(index).padStart(4, '0')}: ${SUBJECTS[index % SUBJECTS.length] as string}`;
}

function argumentsOf(fn: string, index: number): readonly Json[] {
  if (fn === 'judge') return [ticket(index), ticket(index + 1)];
  const text = `${ticket(index)}\n\nSince the update of last week it happens each morning. We have tried the steps of the handbook.\nPlease call back before noon.`;
  return fn === 'review' ? [text, { product: 'pump', version: `4.${index % 9}`, mood: 'tired' }] : [text];
}

function resultOf(fn: string, index: number, random: () => number): Json {
  if (fn === 'extract') return { product: 'pump', version: `4.${index % 9}`, mood: 'tired' };
  if (fn === 'judge') return random() < 0.5 ? 'left' : 'right';
  return {
    urgency: 1 + Math.floor(random() * 5),
    reason: `It happens each morning, and ${SUBJECTS[index % SUBJECTS.length] as string} stops the work of a whole crew.`,
  };
}

/** A small generator of the same numbers each time. */
function randomFrom(seed: number): () => number {
  let state = seed;
  return () => (state = (state * 48_271) % 2_147_483_647) / 2_147_483_647;
}
