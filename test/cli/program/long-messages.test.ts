/** Events that would be too large for a line of the journal, were all that they say in them. */
import fs from 'node:fs/promises';
import { globSync } from 'tinyglobby';
import { describe, expect, it } from 'vitest';
import { LINE_BYTES_MAX } from '../../../journal/codec.js';
import type { Fact } from '../../../journal/event.js';
import type { CallKey } from '../../../journal/ids.js';
import { bounded, splitInvalidation } from '../../../src/session/ports/fit-facts.js';
import { callCli } from '../../support/in-process/call-cli.js';
import { projectFolder } from '../../support/cli.js';

describe('an error with a message of 50 MB', () => {
  it('ends a run whose record says all that happened, and how long the message was', async () => {
    // Its line ends take two bytes each in the line of an event, so that it would not fit.
    const cwd = await projectFolder({
      'llm/run/loud.mld': `exe llm @loud() = sh { yes 1 | head -c 50000000 >&2; echo end >&2; exit 3 }\nshow @loud()\n`,
    });
    const { status } = await callCli(['run', 'loud', '--checkpoint', '--error-behavior', 'halt'], { cwd });
    expect(status).toBe(1);
    const [file = ''] = globSync('.mlld/journal/*/runs/*.ndjson', { cwd, dot: true, absolute: true });
    const lines = (await fs.readFile(file, 'utf8')).trimEnd().split('\n');
    const facts = lines.map((line) => JSON.parse(line) as Fact);
    expect(facts.map(({ type }) => type).slice(-3)).toEqual(['call.failed', 'op.finished', 'run.finished']);
    expect(facts.at(-1)).not.toHaveProperty('lost');
    expect(Math.max(...lines.map(({ length }) => length))).toBeLessThan(1_000_000);
    const { stdout } = await callCli(['journal', 'list', '--json'], { cwd });
    expect(stdout).toContain('"failed"');
  });
});

describe('a fact', () => {
  const long = 'm'.repeat(100_000);
  const cut = expect.stringMatching(/^m{65536}… \(the beginning of 100000 characters\)$/) as string;

  it('whose message is too long has its beginning and its length', () => {
    const failed = { type: 'call.failed', message: long } as Fact;
    expect(bounded(failed)).toEqual({ ...failed, message: cut });
    const finished = { type: 'run.finished', status: 'failed', error: { code: 'BAIL', message: long } } as Fact;
    expect(bounded(finished)).toEqual({ ...finished, error: { code: 'BAIL', message: cut } });
    const effect = { type: 'effect.performed', error: long, errorHint: long } as Fact;
    expect(bounded(effect)).toEqual({ ...effect, error: cut, errorHint: cut });
  });

  it('is left as it is otherwise', () => {
    const finished = { type: 'run.finished', status: 'failed', error: { code: 'BAIL', message: 'short' } } as Fact;
    expect(bounded(finished)).toBe(finished);
  });

  it('that drops many results is said in events that fit, which drop the same together', () => {
    const keys = Array.from({ length: 250_001 }, (_, n) => `sha256:${String(n).padStart(64, '0')}` as CallKey);
    const during = [{ run: '20261121-084512-123-9f3a', seq: 4 }] as never;
    const parts = splitInvalidation({ type: 'memo.invalidated', selector: '@f', keys, borrowed: true, during });
    expect(parts.flatMap((part) => (part.type === 'memo.invalidated' ? part.keys : []))).toEqual(keys);
    expect(parts).toHaveLength(3);
    for (const part of parts) {
      expect(part).toMatchObject({ type: 'memo.invalidated', selector: '@f', borrowed: true, during });
      expect(JSON.stringify(part).length).toBeLessThan(LINE_BYTES_MAX / 4);
    }
    const few = { type: 'memo.invalidated', selector: '@f', keys: keys.slice(0, 3) } as const;
    expect(splitInvalidation(few)).toEqual([few]);
  });
});
