/** The secrets that a run remembers, and the labels of results. SECRET-1, SECRET-2, LABEL-1, LABEL-2. */
import { describe, expect, it } from 'vitest';
import { Signal } from '../../src/runtime/completion.js';
import {
  labelsOfResult,
  membersOf,
  NO_RESULT_LABELS,
  recordedResultLabels,
  withResultLabels,
} from '../../src/runtime/calls/result-labels.js';
import { SecretFragments } from '../../src/runtime/secrets/secret-fragments.js';
import { concealed, isSecret, SecretRegistry } from '../../src/runtime/secrets/secret-registry.js';
import { annotate, labelsOf, type Value } from '../../src/values/value.js';

const TOKEN = 'ghp_0123456789abcdefABCDEF';

function knowing(...secrets: string[]): SecretRegistry {
  const registry = new SecretRegistry();
  secrets.forEach((secret) => registry.add(secret));
  return registry;
}

describe('a known secret', () => {
  it('is redacted, also from the middle of a text, and is not added when it is short', () => {
    expect(knowing(TOKEN).redact(`a ${TOKEN} b`)).toBe('a [secret] b');
    expect(knowing('cat').redact('a cat')).toBe('a cat');
    expect(knowing().isEmpty).toBe(true);
  });

  it('is redacted in JSON, in a URL, in base64 and in hex', () => {
    const secret = 'pass"word\n&more';
    const registry = knowing(secret);
    const bytes = Buffer.from(secret);
    for (const text of [JSON.stringify(secret).slice(1, -1), encodeURIComponent(secret), bytes.toString('base64'), bytes.toString('hex')])
      expect(registry.redact(`<${text}>`)).not.toContain(text);
  });

  it('is found in every part of a value, and line by line', () => {
    const registry = new SecretRegistry();
    registry.add({ a: ['first line\nsecond line'], b: annotate(4411882277, {}) });
    expect(registry.redact('second line, 4411882277')).toBe('[secret], [secret]');
    expect(registry.appearIn('the first line')).toBe(true);
  });

  it('is certain in a value only when it is long and without blanks', () => {
    expect(knowing(TOKEN).contains({ a: [`x${TOKEN}`] })).toBe(true);
    expect(knowing('low tide today at noon').contains('low tide today at noon')).toBe(false);
  });

  it('leaves every other character of a source at its offset', () => {
    expect(knowing(TOKEN).blank(`a ${TOKEN} b`)).toBe(`a ${'*'.repeat(TOKEN.length)} b`);
  });

  it('is replaced in plain data, which is returned unchanged when nothing is known', () => {
    const data = { a: [TOKEN], n: 1 };
    expect(concealed(data, knowing(TOKEN))).toEqual({ a: ['[secret]'], n: 1 });
    expect(concealed(data, knowing())).toBe(data);
  });
});

describe('an error message', () => {
  it('has pieces of secrets hidden, however they are cut or encoded', () => {
    const registry = knowing(TOKEN);
    expect(registry.hideParts(`bad token ${TOKEN.slice(0, 12)}…`)).toBe('bad token [secret]…');
    expect(registry.hideParts(`bad ${Buffer.from(`x${TOKEN}`).toString('base64')}`)).not.toContain(
      Buffer.from(TOKEN).toString('base64').slice(4, 12),
    );
  });

  it('SECRET-2: is withheld when a secret went into the operation, also as a cause', () => {
    const registry = new SecretRegistry();
    const cause = new Error('pin 12');
    registry.taint(cause);
    expect(registry.messageOf(new Error('outer', { cause }))).toBe('withheld: a secret went into it');
    expect(registry.messageOf(new Error('another'))).toBe('another');
  });

  it('keeps short texts and texts without secrets', () => {
    const fragments = new SecretFragments();
    expect(fragments.hide('anything at all', '*')).toBe('anything at all');
    fragments.add(TOKEN);
    expect(fragments.hide('short', '*')).toBe('short');
    expect(fragments.hide(`a ${TOKEN.slice(4, 16)} b`, '*')).toBe('a * b');
  });
});

describe('the labels of a result', () => {
  const llm = { isCommand: false, labels: ['llm'], sources: ['src:js'] };
  const inputs = [annotate('in', { labels: ['pii'] })];

  it.each<[string, Value]>([
    ['plain', 'x'],
    ['labelled', annotate('x', { labels: ['net:r'], sources: ['src:file'] })],
    ['without a label of its arguments', annotate('x', { labels: ['llm'] })],
  ])('LABEL-1: are the same, fresh or reused: %s', (_, made) => {
    const recorded = labelsOfResult(made, inputs, llm, false);
    const fresh = withResultLabels(made, inputs, llm, recorded) as Value;
    const read = recordedResultLabels(membersOf(recorded));
    const reused = withResultLabels('x', inputs, llm, read) as Value;
    expect(labelsOf(reused)).toEqual(labelsOf(fresh));
  });

  it('LABEL-2: keep a label removed that a guard removed', () => {
    const labels = labelsOfResult(annotate('x', { labels: ['llm'] }), inputs, llm, false);
    expect(labels.removed).toEqual(['pii']);
    expect(labelsOf(withResultLabels('x', inputs, llm, labels) as Value)).toEqual(['llm']);
  });

  it('have the label of a secret where the result is sealed', () => {
    const result = withResultLabels('x', [], llm, labelsOfResult('x', [], llm, true)) as Value;
    expect(isSecret(result)).toBe(true);
  });

  it('are on the value that a control word carries', () => {
    const word = withResultLabels(new Signal('done', 'x', true), inputs, llm, NO_RESULT_LABELS) as Signal;
    expect(labelsOf(word.value)).toEqual(['pii', 'llm']);
    const bare = new Signal('done', null, false);
    expect(withResultLabels(bare, inputs, llm, NO_RESULT_LABELS)).toBe(bare);
  });
});
