/** The recorded world returns the outcomes of a run by operation and effect. */
import { describe, expect, it } from 'vitest';
import type { Fact } from '../../../journal/event.js';
import type { RunStatus } from '../../../journal/facts/run-event.js';
import { opPath } from '../../../journal/ids.js';
import { fold } from '../../../replay/fold/projection.js';
import {
  callAround,
  endsWithItsRun,
  isWhole,
  nextEffect,
  nextHandover,
  unusedEffects,
  recording,
  type Recording,
} from '../../../replay/recording/recorded-world.js';
import { entries, runRef, started } from '../../support/written-runs.js';

const MAIN = opPath('main');
const READ = opPath('main/read#0');

function effect(op: string, request: string, more: Partial<Extract<Fact, { type: 'effect.performed' }>> = {}): Fact {
  return {
    type: 'effect.performed',
    op: opPath(op),
    kind: 'file.read',
    subject: request,
    request,
    result: { inline: { text: request } },
    ...more,
  };
}

function recorded(...facts: readonly Fact[]): Recording {
  return fold(recording, entries(runRef(1), [started(runRef(1)), ...facts]));
}

describe('the recorded world', () => {
  it('returns each recorded outcome once, in the order in which an operation repeated an effect', () => {
    const state = recorded(effect(READ, 'a'), effect(MAIN, 'a'), effect(READ, 'b'), effect(READ, 'a'));
    const taken = [1, 2, 3].map(() => {
      const answer = nextEffect(state, READ, 'file.read', 'a');
      if (answer) answer.isUsed = true;
      return answer?.seq;
    });
    expect(taken).toEqual([1, 4, undefined]);
    expect(unusedEffects(state).map(({ seq }) => seq)).toEqual([2, 3]);
  });

  it('knows another request, another kind and another operation apart', () => {
    const state = recorded(effect(READ, 'a'));
    expect(nextEffect(state, READ, 'file.stat', 'a')).toBeUndefined();
    expect(nextEffect(state, READ, 'file.read', 'b')).toBeUndefined();
    expect(nextEffect(state, MAIN, 'file.read', 'a')).toBeUndefined();
    expect(nextEffect(state, READ, 'file.read', undefined)?.seq).toBe(1);
  });

  it('knows which hooks were ended by their time limit, and at which place of the run', () => {
    const fired = { type: 'hook.fired', op: READ, filter: 'op:exe', transformed: false, elapsedMs: 1 } as const;
    const state = recorded(
      { ...fired, hook: 'slow', timing: 'before', error: 'too long', errorCode: 'HOOK_TIMEOUT' },
      { ...fired, hook: 'slow', timing: 'after' },
      { ...fired, hook: 'bad', timing: 'before', error: 'too long', errorCode: 'BAIL' },
    );
    expect([...state.timeouts]).toEqual([[`${READ} before slow`, { seq: 1, message: 'too long' }]]);
  });

  it.each<readonly [string, string, Partial<Extract<Fact, { type: 'effect.performed' }>>]>([
    ['an answer', 'result', {}],
    ['an error', 'error', { error: 'no tide', errorCode: 'CODE_THREW' }],
    ['an interruption', 'interrupted', { error: 'interrupted', errorCode: 'INTERRUPTED' }],
    ['code whose value is the result of its call', 'call', { kind: 'code.run', result: undefined as never }],
    ['a command whose output is the result of its call', 'call', { kind: 'command.run', result: { inline: { durationMs: 3 } } }],
    ['a command', 'result', { kind: 'command.run', result: { inline: { stdout: '', stderr: '', exitCode: 0, durationMs: 3 } } }],
    ['functions of the host', 'nothing', { kind: 'node.import', result: undefined as never }],
    ['a sealed answer', 'result', { kind: 'command.run', result: { sealed: 'AA==', keyId: 'k' } }],
  ])('tells what is recorded of %s', (_what, holds, more) => {
    expect(recorded(effect(READ, 'a', more)).effects.get(READ)?.[0]?.holds).toBe(holds);
  });

  it.each<[RunStatus | undefined, boolean]>([
    ['completed', true],
    ['failed', true],
    ['restarted', true],
    ['interrupted', false],
    ['timed-out', false],
    [undefined, false],
  ])('is whole, with all that a run was answered, when the run ended as %s: %s', (status, whole) => {
    const ends: Fact[] = status === undefined ? [] : [{ type: 'run.finished', status, totals: { executed: 0, reused: 0, failed: 0 } }];
    expect(isWhole(recorded(...ends))).toBe(whole);
  });

  it('keeps of a call that was executed several times only the last attempt, and what came before the first', () => {
    const call = { key: 'sha256:1' as never, op: opPath('main/ask#0'), fn: 'ask' };
    const start: Fact = { type: 'call.started', ...call, args: { inline: [] }, fingerprint: 'sha256:2' as never };
    const state = recorded(
      effect('main/ask#0', 'of the hook'),
      start,
      effect('main/ask#0', 'body'),
      effect('main/ask#0/look#0', 'inside'),
      { type: 'call.failed', key: call.key, op: call.op, message: 'no', elapsedMs: 1, class: 'overloaded', retryInMs: 5 },
      { ...start, try: 2 },
      effect('main/ask#0', 'body'),
      { type: 'call.completed', ...call, result: { inline: 'answer' }, elapsedMs: 1 },
    );
    expect(unusedEffects(state).map(({ seq, request }) => [seq, request])).toEqual([
      [1, 'of the hook'],
      [7, 'body'],
    ]);
    expect([1, 2].map(() => nextHandover(state, 'call.started', 'main/ask#0'))).toEqual([6, undefined]);
    expect(nextHandover(state, 'call.failed', 'main/ask#0')).toBeUndefined();
  });

  it('knows how the attempts of a call failed', () => {
    const call = { key: 'sha256:1' as never, op: opPath('main/ask#0') };
    const start: Fact = { type: 'call.started', ...call, fn: 'ask', args: { inline: [] }, fingerprint: 'sha256:2' as never };
    const failed: Fact = { type: 'call.failed', ...call, message: 'no', elapsedMs: 1, class: 'overloaded', evidence: 'envelope' };
    const by = (...facts: readonly Fact[]): unknown => recorded(start, ...facts).calls.get(call.op)?.failed?.by;
    expect(by({ ...failed, code: 'CALL_FAILED' })).toBe('judged');
    expect(by({ ...failed, class: 'crash', evidence: 'none' })).toBe('judged');
    expect(by(failed)).toBe('waiting');
    expect(by({ type: 'call.failed', ...call, message: 'no', elapsedMs: 1, denied: true })).toBe('inside');

    const again = recorded(start, { ...failed, retryInMs: 5 }, { ...start, try: 2 }, { ...failed, retryInMs: 5 });
    expect(again.calls.has(call.op)).toBe(false);
    expect(again.failedAttempts.get(call.op)?.map(({ seq }) => seq)).toEqual([2, 4]);
    const late = recorded(start, { ...failed, class: 'timeout', evidence: 'clock', code: 'CALL_FAILED' }, effect(call.op, 'in vain'));
    expect(late.calls.get(call.op)?.failed?.by).toBe('clock');
    expect(unusedEffects(late)).toEqual([]);
  });

  it('ends with its run when that paused in order', () => {
    const ends = (more: object): Fact => ({
      type: 'run.finished',
      status: 'paused',
      totals: { executed: 0, reused: 0, failed: 0 },
      ...more,
    });
    expect(endsWithItsRun(recorded(ends({})))).toBe(true);
    expect(endsWithItsRun(recorded(ends({ lost: 2 })))).toBe(false);
    expect(endsWithItsRun(recorded())).toBe(false);
  });

  it('finds the call around the function that it forwards to, and its turns', () => {
    const call = { key: 'sha256:1' as never, op: opPath('main/ask#0'), fn: 'ask' };
    const state = recorded(
      { type: 'call.started', ...call, args: { inline: [] }, fingerprint: 'sha256:2' as never },
      { type: 'call.completed', ...call, result: { inline: 'answer' }, elapsedMs: 1 },
    );
    expect(callAround(state, opPath('main/ask#0/claude#0'))?.completed?.seq).toBe(2);
    expect(callAround(state, opPath('main/other#0'))).toBeUndefined();
    expect([1, 2].map(() => nextHandover(state, 'call.completed', 'main/ask#0'))).toEqual([2, undefined]);
  });
});
