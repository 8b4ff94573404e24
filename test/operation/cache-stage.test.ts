/** The cache stage with ports of its own: what it records, and in which order. CACHE-1 to CACHE-5. */
import { describe, expect, it } from 'vitest';
import type { Fact } from '../../journal/event.js';
import type { Fingerprint } from '../../journal/ids.js';
import { MlldError } from '../../src/errors.js';
import { callOrReuse } from '../../src/operation/cache-stage.js';
import { sitesOf, type CacheableCall, type Execute } from '../../src/operation/cacheable-call.js';
import { executeUnrecorded } from '../../src/operation/execute-call.js';
import { findReusable } from '../../src/operation/find-result.js';
import { Signal, type Outcome } from '../../src/runtime/completion.js';
import { Denial } from '../../src/runtime/denial.js';
import { callKey } from '../../src/runtime/calls/call-key.js';
import type { LlmCall } from '../../src/runtime/calls/llm-call.js';
import { DEFAULT_CALL_SETTINGS } from '../../src/calls/options.js';
import { createCallRuntime } from '../../src/session/script/call-runtime.js';
import { annotate, dataOf, labelsOf, type Value } from '../../src/values/value.js';
import { bareRun, settled, type BareOptions, type BareRun } from '../support/bare-run.js';

const DEFINITION = { fingerprint: 'f1' as Fingerprint, parts: [] };
const KEY = callKey({ fn: 'ask', args: ['tide'] });

interface Options extends BareOptions {
  readonly inputs?: readonly Value[];
  readonly llm?: Partial<LlmCall>;
}

/** A function that makes one call `@ask("tide")` after the other in the same run. */
function caller({ inputs = ['tide'], llm = {}, ...options }: Options = {}): BareRun & { call: () => CacheableCall } {
  const bare = bareRun(options);
  return {
    ...bare,
    call: () => ({
      run: bare.run,
      op: bare.frame.op.child('ask'),
      operation: { kind: 'exe', segment: 'ask', name: 'ask', labels: ['llm'], inputs },
      llm: {
        request: () => ({ request: { fn: 'ask', args: ['tide'] } }),
        definition: () => DEFINITION,
        fn: 'ask',
        options: () => ({}),
        isCommand: false,
        labels: [],
        sources: [],
        ...llm,
      },
      secret: false,
      suppress: 'nothing',
      loop: undefined,
      restore: async () => undefined,
    }),
  };
}

/** Executes the body of a call as `perform` does, inside its attempts. */
function doing(work: () => Promise<Outcome>): Execute {
  return (_lookup, _body, around) => around(work)(bareRun().frame, []);
}

function typesOf(facts: readonly Fact[]): string[] {
  return facts.map(({ type }) => type);
}

describe('a call that is made twice', () => {
  it('is executed once, and its result is reused', async () => {
    const { call, facts } = caller();
    let executed = 0;
    const first = await callOrReuse(call(), async () => `high at ${++executed}`);
    const second = await callOrReuse(call(), async () => `high at ${++executed}`);
    expect([first, second]).toEqual([
      { result: 'high at 1', lookup: { hit: false, key: KEY } },
      { result: 'high at 1', lookup: { hit: true, key: KEY } },
    ]);
    expect(typesOf(facts)).toEqual(['definition.recorded', 'call.started', 'call.completed', 'call.reused']);
    expect(facts.at(-1)).toMatchObject({ op: 'main/ask#1', from: { seq: 3 }, fingerprint: 'f1' });
  });

  it('CACHE-1: has its start recorded before the body runs, and its result before the caller has it', async () => {
    const { call, facts } = caller();
    let during: string[] = [];
    await callOrReuse(
      call(),
      doing(async () => {
        during = typesOf(facts);
        return 'high';
      }),
    );
    expect(during).toEqual(['definition.recorded', 'call.started']);
    expect(facts.at(-1)).toMatchObject({ type: 'call.completed', result: { inline: 'high' }, key: KEY });
  });

  it('CACHE-3: waits for the one in flight', async () => {
    const { call, facts } = caller();
    let end: (result: string) => void = () => undefined;
    const first = callOrReuse(
      call(),
      doing(() => new Promise<string>((resolve) => (end = resolve))),
    );
    await settled();
    const second = callOrReuse(call(), async () => 'executed twice');
    await settled();
    expect(typesOf(facts).filter((type) => type === 'call.started')).toHaveLength(1);
    end('high');
    expect((await first).result).toBe('high');
    expect(await second).toEqual({ result: 'high', lookup: { hit: true, key: KEY } });
  });

  it('is executed twice, one beside the other, where results are recorded and not reused', async () => {
    const { call, facts } = caller({ policy: { records: true, reuses: false } });
    const results = await Promise.all([callOrReuse(call(), async () => 'a'), callOrReuse(call(), async () => 'b')]);
    expect(results.map(({ result }) => result)).toEqual(['a', 'b']);
    expect(typesOf(facts).filter((type) => type === 'call.completed')).toHaveLength(2);
  });
});

describe('CACHE-2: a call without a usable result', () => {
  it('is recorded as failed, and executed again', async () => {
    const { call, facts } = caller();
    const failure = new MlldError('COMMAND_FAILED', 'no boat');
    await expect(callOrReuse(call(), () => Promise.reject(failure))).rejects.toBe(failure);
    expect(facts.at(-1)).toMatchObject({ type: 'call.failed', message: 'no boat', code: 'COMMAND_FAILED' });
    expect((await callOrReuse(call(), async () => 'high')).lookup.hit).toBe(false);
  });

  it('is recorded as denied when a guard denies it', async () => {
    const { call, facts } = caller();
    const more = { decision: 'deny', tries: [], hints: [], trace: [], args: [] } as const;
    const denial = new Denial({ guardName: '@g', guardFilter: 'operation:exe', timing: 'before', reason: 'no', reasons: ['no'], ...more });
    await expect(callOrReuse(call(), () => Promise.reject(denial))).rejects.toBe(denial);
    expect(facts.at(-1)).toMatchObject({ type: 'call.failed', denied: true });
  });

  it('is used once when it asks for another result', async () => {
    const { call, facts } = caller();
    await callOrReuse(call(), async () => new Signal('retry', 'shorter', true));
    expect(facts.at(-1)).toMatchObject({ type: 'call.completed', unusable: 'it requested another result (`retry`)' });
    expect((await callOrReuse(call(), async () => 'again')).result).toBe('again');
  });

  describe('because its command failed', () => {
    const printed = annotate('half', { command: { source: 'sh', command: 'x', exitCode: 3, durationMs: 1, stderr: 'no boat' } });

    it('fails', async () => {
      const { call, facts } = caller({ llm: { isCommand: true } });
      await expect(
        callOrReuse(
          call(),
          doing(async () => printed),
        ),
      ).rejects.toThrow('crash: no boat');
      expect(facts.at(-1)).toMatchObject({ type: 'call.failed', class: 'crash', evidence: 'none', message: 'crash: no boat' });
    });

    it('is used once where its function passes on what was printed', async () => {
      const { call, facts } = caller({ llm: { isCommand: true, options: () => ({ onFailure: 'value' }) } });
      const work = doing(async () => printed);
      expect(dataOf((await callOrReuse(call(), work)).result as Value)).toBe('half');
      expect(facts.at(-1)).toMatchObject({ type: 'call.completed', class: 'crash', unusable: expect.stringContaining('crash') });
      expect((await callOrReuse(call(), work)).lookup.hit).toBe(false);
    });
  });

  it('is the value of its own denied branch', async () => {
    const { call, facts, run } = caller();
    const denied = call();
    run.deniedInside.add(denied.op);
    await callOrReuse(denied, async () => 'refused');
    expect(facts.at(-1)).toMatchObject({ unusable: 'the value of its own denied branch', denied: true });
  });
});

describe('CACHE-4: a run whose journal is lost', () => {
  it('starts no further call, and ends when those in flight have ended', async () => {
    let paused = false;
    const clock = { stderr: () => undefined, monotonicMs: () => performance.now(), nowMs: Date.now };
    const calls = createCallRuntime({
      settings: DEFAULT_CALL_SETTINGS,
      io: clock,
      pause: () => (paused = true),
      signal: new AbortController().signal,
    });
    const { call } = caller({ calls });
    let end: (result: string) => void = () => undefined;
    const first = callOrReuse(
      call(),
      doing(() => new Promise<string>((resolve) => (end = resolve))),
    );
    await settled();
    calls.dispatcher.stop({ class: 'journal', message: 'disk full' });
    const next = { ...call(), llm: { ...call().llm, request: () => ({ request: { fn: 'ask', args: ['ebb'] } }) } };
    const refusing = callOrReuse(
      next,
      doing(async () => 'paid for'),
    );
    const refused = Promise.resolve(refusing).catch((error: MlldError) => error.code);
    await settled();
    expect(paused).toBe(false);
    end('high');
    expect((await first).result).toBe('high');
    expect([await refused, paused]).toEqual(['INTERRUPTED', true]);
  });
});

describe('CACHE-5: a call with a secret in it', () => {
  const inputs = [annotate('tide', { labels: ['secret'] })];

  it('is recorded under a keyed digest, with neither arguments nor result in clear', async () => {
    const { call, facts } = caller({ inputs });
    const { result } = await callOrReuse(call(), async () => annotate('4411', { labels: ['secret'] }));
    expect(labelsOf(result as Value)).toEqual(['secret']);
    const [, started, completed] = facts;
    expect(started).toMatchObject({ key: `keyed ${KEY}`, args: { digest: 'keyed 8' } });
    expect(completed).toMatchObject({ result: { sealed: `sealed keyed ${KEY}` } });
  });

  it('records nothing of its error but that it is withheld', async () => {
    const { call, facts } = caller({ inputs });
    await expect(callOrReuse(call(), () => Promise.reject(new Error('tide is wrong')))).rejects.toThrow('tide is wrong');
    expect(facts.at(-1)).toMatchObject({ type: 'call.failed', message: 'withheld: a secret went into it' });
  });
});

describe('a call that is not recorded', () => {
  it('records nothing where the policy says so, and is counted', async () => {
    const { call, facts, run } = caller({ policy: { records: false, reuses: false } });
    expect(await callOrReuse(call(), async () => 'high')).toMatchObject({ lookup: { hit: false, key: null } });
    expect([facts, run.unrecordedResults]).toEqual([[], 1]);
  });

  it('is executed with a warning when the journal can not hold its arguments', async () => {
    let deep: unknown = 0;
    for (let i = 0; i < 2000; i++) deep = [deep];
    const request = (): ReturnType<LlmCall['request']> => ({ request: { fn: 'ask', args: [deep as []] } });
    const { call, facts, warnings } = caller({ llm: { request } });
    expect((await callOrReuse(call(), async () => 'high')).lookup.key).toBeNull();
    expect([facts, warnings]).toEqual([
      [],
      ['an argument of @ask is nested too deeply for the journal: this call is neither recorded nor reused'],
    ]);
  });

  it('has its labels in the order of a reused result: those of the arguments first', async () => {
    const { call } = caller({ inputs: [annotate('x', { labels: ['pii'] })] });
    const made = annotate('high', { labels: ['net:r', 'pii'] });
    const { result } = await executeUnrecorded(call(), undefined, async () => made);
    expect(labelsOf(result as Value)).toEqual(['pii', 'net:r']);
  });
});

it('executes the body that forming the request left, where there is one', async () => {
  const body = async (): Promise<string> => 'forwarded';
  const { call } = caller({ llm: { request: async () => ({ request: { fn: 'ask', args: [] }, body }) } });
  const bodies: unknown[] = [];
  await callOrReuse(call(), async (_lookup, own) => {
    bodies.push(own);
    return 'high';
  });
  expect(bodies).toEqual([body]);
});

it('finds nothing for a call that was never made', async () => {
  const { call } = caller();
  const identity = { key: KEY, plainKey: KEY, hasSecret: false, definition: DEFINITION, request: { fn: 'ask', args: ['tide'] } };
  expect(await findReusable(call(), identity)).toEqual({ kind: 'miss', outdated: undefined });
});

it('names the place of a call and of its declaration only for functions', () => {
  const facts = { declared: 'ask', called: ['ask'], params: [], site: () => 'a:1:1', declaredAt: () => 'b:2:2', repeatable: false };
  const operation = caller().call().operation;
  expect([sitesOf({ ...operation, call: facts }), sitesOf(operation)]).toEqual([{ site: 'a:1:1', declared: 'b:2:2' }, {}]);
});
