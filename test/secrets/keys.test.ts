/** Keys: what they seal opens again with them and with nothing else, and one project has one. */
import { randomBytes } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { realDisk } from '../../journal/storage/disk.js';
import { openFileStore } from '../../journal/storage/file-store.js';
import type { Json } from '../../journal/event.js';
import { makeProjectKey, parseSealingKey } from '../../journal/secrets/keyring.js';
import { digestingSecrets, sealingSecrets } from '../../journal/secrets/sealing.js';
import { callCli } from '../support/in-process/call-cli.js';
import { projectFolder } from '../support/cli.js';

const root = randomBytes(32);
const other = sealingSecrets(randomBytes(32));

describe('what is sealed', () => {
  it('opens again, and neither with another key, nor about something else, nor changed', () => {
    const secrets = sealingSecrets(root);
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.string(), fc.nat(), (text, about, place) => {
        const sealed = secrets.seal(text, about);
        expect(secrets.unseal(sealed, about)).toBe(text);
        expect(other.unseal(sealed, about)).toBeUndefined();
        expect(secrets.unseal(sealed, `${about}.`)).toBeUndefined();
        const changed = Buffer.from(sealed);
        changed[place % changed.length]! ^= 1;
        expect(secrets.unseal(changed, about)).toBeUndefined();
        expect(secrets.unseal(sealed.subarray(0, place % sealed.length), about)).toBeUndefined();
      }),
    );
  });

  it('returns small and large payloads from a store of the same key', async () => {
    const folder = await projectFolder();
    const store = openFileStore(folder);
    for (const value of ['x', { deep: ['y'] }, 'z'.repeat(200_000)] satisfies Json[]) {
      const payload = await store.secretPayload(value, 'call');
      expect(JSON.stringify(payload)).toContain('keyId');
      expect(await openFileStore(folder).resolve(payload, 'call')).toEqual(value);
      expect(await openFileStore(folder).resolve(payload, 'another')).toBeUndefined();
      expect(await openFileStore(folder, { sealingKey: randomBytes(32) }).resolve(payload, 'call')).toBeUndefined();
      expect(await openFileStore(folder, { sealingKey: 'none' }).resolve(payload, 'call')).toBeUndefined();
    }
  });
});

it('digests equal secrets alike within a root, whether it seals or not, and differently with another', () => {
  expect(sealingSecrets(root).digest('a')).toBe(digestingSecrets(root).digest('a'));
  expect(sealingSecrets(root).digest('a')).not.toBe(other.digest('a'));
  expect(sealingSecrets(root).digest('a')).not.toBe(sealingSecrets(root).digest('b'));
});

it('makes one key for a project, however many need it, and only its owner reads it', async () => {
  const folder = path.join(await projectFolder(), '.mlld', 'journal');
  const keys = await Promise.all(Array.from({ length: 8 }, () => makeProjectKey(realDisk, folder)));
  expect(new Set(keys.map((key) => Buffer.from(key).toString('hex'))).size).toBe(1);
  expect(readFileSync(`${folder}.key`, 'latin1').trim()).toBe(Buffer.from(keys[0] ?? []).toString('hex'));
  expect(statSync(`${folder}.key`).mode & 0o777).toBe(0o600);
});

it.each(['', 'zz', 'a'.repeat(63), 'A'.repeat(50)])('refuses %j as a key', (text) => {
  expect(() => parseSealingKey(text, 'it')).toThrow(expect.objectContaining({ code: 'JOURNAL_KEY_INVALID' }));
});

it('reuses a sealed result with its key, executes again with another, and says so once', async () => {
  const script = [
    'var secret @token = "tidal-lock-0042"',
    'exe llm @ask(q) = sh { echo asked >> calls.log; echo "A:$q" }',
    'show @ask(@token)',
    'show @ask(`more @token`)',
  ];
  const cwd = await projectFolder({ 'job.mld': script.join('\n') });
  const calls = (): number => readFileSync(path.join(cwd, 'calls.log'), 'utf8').split('\n').length - 1;
  const run = (key: string) => callCli(['job.mld', '--checkpoint'], { cwd, env: { MLLD_JOURNAL_KEY: key } });
  const [first, second] = [randomBytes(32).toString('hex'), randomBytes(32).toString('base64')];
  const asked = [];
  for (const key of [first, first, second, second, first, 'none', 'none']) {
    const { stdout, stderr } = await run(key);
    expect(stdout).toBe('A:tidal-lock-0042\nA:more tidal-lock-0042\n');
    asked.push([calls(), stderr.split('are sealed with the key').length - 1]);
  }
  // The results of the first key are found again when it is back.
  expect(asked).toEqual([[2, 0], [2, 0], [4, 1], [4, 0], [4, 0], [6, 1], [8, 1]]); // prettier-ignore
});

it('does so where only the metadata of a result is sealed', async () => {
  const script = [
    'var secret @token = "tidal-lock-0042"',
    'exe llm @run(q) = [\n  let @x = cmd { sh -c "true @token; echo asked >> calls.log; echo fine" }\n  => @x\n]',
    'guard privileged after @run = when [ * => allow with { removeLabels: ["secret"] } ]',
    'var @r = @run("x")\nvar @s = @run("x")',
    'show `@r @r.mx.exitCode @s.mx.exitCode`',
  ];
  const cwd = await projectFolder({ 'job.mld': script.join('\n') });
  const asked = [];
  for (const key of ['a'.repeat(64), 'a'.repeat(64), 'b'.repeat(64), 'b'.repeat(64), 'none', 'none']) {
    const { stdout, stderr } = await callCli(['job.mld', '--checkpoint'], { cwd, env: { MLLD_JOURNAL_KEY: key } });
    expect(stdout).toBe('fine 0 0\n');
    asked.push([readFileSync(path.join(cwd, 'calls.log'), 'utf8').length / 6, stderr.split('are sealed with the key').length - 1]);
    expect(stderr).not.toContain("can't be read");
  }
  expect(asked).toEqual([[1, 0], [1, 0], [2, 1], [2, 0], [3, 1], [4, 1]]); // prettier-ignore
});
