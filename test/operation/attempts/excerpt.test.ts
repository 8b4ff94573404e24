/** The beginning of the reply of a failed attempt is kept, but never with a secret. calls.md 16.3. */
import { expect, it } from 'vitest';
import type { CacheableCall } from '../../../src/operation/cacheable-call.js';
import { excerptOf } from '../../../src/operation/attempts/excerpt.js';
import { annotate, type Value } from '../../../src/values/value.js';
import { bareRun } from '../../support/bare-run.js';

function excerpt(
  raw: { readonly stdout: string; readonly stderr?: string } | undefined,
  { input = 'tide', hasSecret = false, secret = false }: { input?: Value; hasSecret?: boolean; secret?: boolean } = {},
): Promise<unknown> {
  const { run } = bareRun();
  run.secrets.add(annotate('hunter2-hunter2', { labels: ['secret'] }));
  const call = { run, secret, operation: { inputs: [input] } } as unknown as CacheableCall;
  return excerptOf(call, hasSecret, { raw: raw && { stderr: '', exitCode: 1, ...raw } });
}

it('is at most 2,000 units of the output, else of the error output', async () => {
  expect(await excerpt({ stdout: ' x'.repeat(3000) })).toEqual({ inline: 'x'.padEnd(2000, ' x') });
  expect(await excerpt({ stdout: '\n', stderr: 'no such model\n' })).toEqual({ inline: 'no such model' });
  expect(await excerpt({ stdout: `${'x'.repeat(1999)}\u{1f30a}` })).toEqual({ inline: 'x'.repeat(1999) });
});

it('is none where nothing came back, or the call has a secret', async () => {
  expect(await excerpt(undefined)).toBeUndefined();
  expect(await excerpt({ stdout: '' })).toBeUndefined();
  expect(await excerpt({ stdout: 'x' }, { hasSecret: true })).toBeUndefined();
  expect(await excerpt({ stdout: 'x' }, { secret: true })).toBeUndefined();
  expect(await excerpt({ stdout: 'x' }, { input: annotate('y', { labels: ['secret'] }) })).toBeUndefined();
});

it('has no secret of the run, also where it would be cut', async () => {
  const found = JSON.stringify(await excerpt({ stdout: `${'x'.repeat(1990)}hunter2-hunter2` }));
  expect(found).not.toContain('hunter');
});
