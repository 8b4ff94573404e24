/** Performing an effect, and the facts that record it. */
import { describe, expect, it } from 'vitest';
import { sha256 } from '../../journal/canonical.js';
import { isRecordedByCall } from '../../src/operation/deduplicate-effect.js';
import { canonicalRequest, recordEffect, subjectOf } from '../../src/operation/effect-facts.js';
import type { EffectFrame } from '../../src/operation/effect-frame.js';
import { performEffect } from '../../src/operation/perform-effect.js';
import { recordSource } from '../../src/operation/sources.js';
import { hideLiterals } from '../../src/operation/secret-literals.js';
import { BodyDeadline } from '../../src/runtime/body-deadline.js';
import { SecretRegistry } from '../../src/runtime/secrets/secret-registry.js';
import { annotate } from '../../src/values/value.js';
import type { EffectRequest } from '../../src/world/world.js';
import { bareRun } from '../support/bare-run.js';

const TIDE = { path: '/p/tide.txt' };

describe('an effect', () => {
  it('returns the result of the world, and is recorded with it', async () => {
    const { frame, facts } = bareRun({ files: { '/p/tide.txt': 'high' } });
    expect(await performEffect(frame, 'file.read', TIDE)).toEqual({ text: 'high' });
    expect(facts).toMatchObject([
      {
        type: 'effect.performed',
        op: 'main',
        kind: 'file.read',
        subject: '/p/tide.txt',
        result: { inline: { text: 'high' } },
        elapsedMs: 1,
      },
    ]);
  });

  it.each([['that returns'], ['that fails']])(
    'of code %s is known by the arguments it got, not by what the code made of them',
    async (way) => {
      const { frame, facts } = bareRun();
      const perform = (_kind: unknown, { variables }: { variables: { xs: number[] } }): Promise<unknown> => {
        variables.xs.reverse();
        return way === 'that fails' ? Promise.reject(new Error('sorted')) : Promise.resolve({ value: 1, log: '' });
      };
      const run = { ...frame.run, world: { ...frame.run.world, perform: perform as typeof frame.run.world.perform } };
      const request = (): EffectRequest<'code.run'> => ({
        language: 'js',
        code: 'xs.reverse()',
        directory: '/p',
        echo: false,
        unset: [],
        variables: { xs: [3, 1] },
      });
      await performEffect({ ...frame, run }, 'code.run', request()).catch(() => undefined);
      expect(facts).toMatchObject([{ kind: 'code.run', request: sha256(canonicalRequest(request())) }]);
    },
  );

  it('is recorded with its error, which the caller gets', async () => {
    const { frame, facts } = bareRun();
    await expect(performEffect(frame, 'node.import', { module: 'boats', from: '/p' })).rejects.toThrow('Cannot find module boats');
    expect(facts).toMatchObject([{ kind: 'node.import', error: 'Cannot find module boats', errorCode: 'NODE_MODULE' }]);
  });

  it('with a secret in its request has neither request nor result in clear', async () => {
    const { frame, facts } = bareRun();
    const pin = annotate('pin 4411-8822', { labels: ['secret'] });
    await performEffect(frame, 'file.write', { path: '/p/pin.txt', text: 'pin 4411-8822' }, { values: [pin] });
    expect(JSON.stringify(facts)).not.toContain('4411');
    expect(facts).toMatchObject([{ subject: '/p/pin.txt', request: expect.stringMatching(/^keyed \d+$/), result: { keyId: 'k' } }]);
  });

  it('has the secrets of its options redacted before the script gets the result', async () => {
    const hides = new SecretRegistry();
    hides.add('4411-8822');
    const { frame } = bareRun({ files: { '/p/tide.txt': 'pin 4411-8822' } });
    expect(await performEffect(frame, 'file.read', TIDE, { values: [], hides })).toEqual({ text: 'pin [secret]' });
  });

  it('is not performed in a hook whose time is over', async () => {
    const { frame, world } = bareRun();
    const late = { ...frame, deadline: new BodyDeadline(() => 0) };
    await expect(performEffect(late, 'clock.now', {})).rejects.toThrow('the time limit of the body has passed');
    expect(world.performed).toEqual([]);
  });

  it('does not fail when the journal can not hold its result, but warns', async () => {
    const { frame, warnings } = bareRun();
    const payload = (): never => {
      throw new Error('too deep');
    };
    const run = { ...frame.run, cache: { ...frame.run.cache, payload } };
    await performEffect({ ...frame, run }, 'clock.now', {});
    expect(warnings).toEqual(["the journal can't hold the request or the result of clock.now: too deep"]);
  });
});

describe('the request of an effect', () => {
  it('is the same text in any order of its members, and without the way a command reaches the shell', () => {
    expect(canonicalRequest({ b: 1, a: [2] })).toBe(canonicalRequest({ a: [2], b: 1 }));
    expect(canonicalRequest({ code: 'ls', executed: 'x=1; ls', isSecret: true })).toBe(canonicalRequest({ code: 'ls' }));
  });

  it.each([
    ['file.read', { path: '/p/a' }, '/p/a'],
    ['file.glob', { root: '/p', pattern: '*.md' }, '*.md'],
    ['stream.write', { stream: 'stdout', text: 'hi\n' }, 'stdout: hi'],
    ['code.run', { code: 'x'.repeat(50) }, `${'x'.repeat(39)}…`],
    ['clock.now', {}, 'clock.now'],
  ] as const)('of %s is shown by its subject', (kind, request, subject) => {
    expect(subjectOf(kind, request)).toBe(subject);
  });
});

it('is recorded by hand where a test or a replay has the result already', () => {
  const { frame, facts } = bareRun();
  expect(recordEffect(frame, 'clock.now', {}, { result: { ms: 5 }, elapsedMs: 1.23456 }, { values: [] })).toBeUndefined();
  expect(facts).toMatchObject([{ kind: 'clock.now', result: { inline: { ms: 5 } }, elapsedMs: 1.235 }]);
});

describe('the result of an effect that is the body of a call', () => {
  const request = { language: 'sh', code: 'x' } as never;
  const result = { stdout: 'high\n', stderr: '', exitCode: 0, durationMs: 1 };

  it('is recorded outside a call', () => {
    expect(isRecordedByCall(bareRun().frame satisfies EffectFrame, 'command.run', request, result)).toBe(false);
  });

  it('is recorded in the body of a call whose own code it is not', () => {
    const { frame } = bareRun();
    const inCall = { ...frame, context: { ...frame.context, checkpoint: { hit: false, key: 'k' } } };
    expect(isRecordedByCall(inCall, 'command.run', request, result)).toBe(false);
  });
});

describe('a source', () => {
  it('is stored without the secrets that are written in it', async () => {
    const texts: string[] = [];
    const { run, facts } = bareRun();
    const keepText = async (text: string) => (texts.push(text), 'blob' as never);
    await recordSource({ run: { ...run, cache: { ...run.cache, keepText } } }, '/p/a.mld', 'var secret @pin = "4411-8822"\n', 'script');
    expect(texts).toEqual(['var secret @pin = "[secret]"\n']);
    expect(facts).toMatchObject([{ type: 'source.loaded', path: 'a.mld', role: 'script', whole: { keyId: 'k' } }]);
    expect(run.secrets.redact('4411-8822')).toBe('[secret]');
  });

  it('without a secret declaration is unchanged', () => {
    expect(hideLiterals('var @pin = "4411"')).toBeUndefined();
  });
});
