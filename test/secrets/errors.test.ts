import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import { SecretFragments } from '../../src/runtime/secrets/secret-fragments.js';
import { SecretRegistry } from '../../src/runtime/secrets/secret-registry.js';
import { callCli } from '../support/in-process/call-cli.js';
import { projectFolder } from '../support/cli.js';

const TOKEN = 'sk-live-0123/456789+abcdefXYZ';
const CALL = 'exe llm @ask(x) = js { return "R:" + x; }\nvar @q = @ask("hi")\n';
/** Any eight characters of it that follow on each other. */
const PIECES = Array.from({ length: TOKEN.length - 7 }, (_, at) => TOKEN.slice(at, at + 8));

function expectNothingOf(text: string): void {
  for (const piece of PIECES) expect(text).not.toContain(piece);
}

describe('an error with a secret in it', () => {
  it.each([
    ['of the script', 'bail `failed with @token`', 'failed with [secret]'],
    [
      'of code that cut it',
      'exe @f(t) = js { throw new Error(`bad ${t.slice(0, 12)}… in ${t.slice(-9)}`); }\nshow @f(@token)',
      'bad [secret]… in [secret]',
    ],
    [
      'of code that encoded it',
      'exe @f(t) = js { throw new Error(Buffer.from(`ab:${t}`).toString("base64")); }\nshow @f(@token)',
      '[secret]',
    ],
    ['of a command', 'exe @f(t) = sh { printf "no: %.12s" "$t" >&2; exit 3; }\nshow @f(@token)', 'no: [secret]'],
  ])('%s: neither the run, its replay nor its record show any of it', async (_, failing, shown) => {
    const cwd = await projectFolder({ 'job.mld': `${CALL}var secret @token = "${TOKEN}"\n${failing}\n` });
    const ran = await callCli(['job.mld', '--checkpoint', '--error-behavior', 'halt'], { cwd });
    expect(ran.stderr).toContain(shown);
    for (const words of ['replay latest', 'replay latest --json', 'postmortem latest', 'show latest', 'audit latest', 'list --json']) {
      const { stdout, stderr } = await callCli(['journal', ...words.split(' ')], { cwd });
      expectNothingOf(stdout + stderr);
    }
    expectNothingOf(ran.stdout + ran.stderr);
  });

  it('quotes the line of the source with stars, so that the caret stays at its place', async () => {
    const cwd = await projectFolder({
      'job.mld': `var secret @token = "${TOKEN}", @nobody\nshow @token\n`,
      'run.mld': `var secret @token = "${TOKEN}"\nbail "x"\n`,
    });
    const { stderr } = await callCli(['run.mld'], { cwd });
    expect(stderr).toContain(`  1 | var secret @token = "${'*'.repeat(TOKEN.length)}"\n  2 | bail "x"\n    | ^\n`);
    expectNothingOf((await callCli(['job.mld'], { cwd })).stderr);
  });

  it('replays to the same output as it ran with', async () => {
    const cwd = await projectFolder({ 'job.mld': `${CALL}var secret @token = "${TOKEN}"\nbail \`failed with @token\`\n` });
    await callCli(['job.mld', '--checkpoint'], { cwd });
    const { stderr } = await callCli(['journal', 'replay', 'latest'], { cwd });
    expect(stderr).toContain('and failed with the same error: failed with [secret]\n');
  });

  it('in a warning shows none of it', async () => {
    const cwd = await projectFolder({
      'job.mld': `var secret @token = "${TOKEN}"\nhook @h before op:show = [ => @cut(@token) ]\nexe @cut(t) = js { throw new Error("no " + t.slice(3, 14)); }\nshow "x"\n`,
    });
    const { stdout, stderr } = await callCli(['job.mld'], { cwd });
    expect([stdout, stderr]).toEqual(['x\n', 'warning: hook @h: no [secret]\n']);
  });
});

describe('pieces of secrets', () => {
  const learned = (...secrets: readonly string[]): SecretRegistry => {
    const texts = new SecretRegistry();
    for (const secret of secrets) texts.add(secret);
    return texts;
  };

  it('of eight characters and more are hidden, wherever they are cut', () => {
    fc.assert(
      fc.property(
        fc.nat(TOKEN.length - 8),
        fc.integer({ min: 8, max: TOKEN.length }),
        fc.string(),
        fc.string(),
        (from, length, before, after) => {
          const hidden = learned(TOKEN).hideParts(`${before}${TOKEN.slice(from, from + length)}${after}`);
          for (const piece of PIECES) expect(hidden).not.toContain(piece);
          expect(hidden).toContain('[secret]');
        },
      ),
    );
  });

  it.each([
    ['in JSON', 'tide"at\nthe mole', JSON.stringify('tide"at\nthe mole').slice(2, 13)],
    ['in a URL', 'tide/at the+mole', 'tide%2Fat%20the'],
    ['in base64, behind other text', 'a long pass phrase', Buffer.from('user:a long pass phrase!').toString('base64').slice(8, 24)],
    ['in base64 for URLs', 'subjects?_d=ÿÿÿÿþþ', Buffer.from('subjects?_d=ÿÿÿÿþþ').toString('base64url').slice(0, 20)],
    ['in hex', 'a long pass phrase', Buffer.from('a long pass phrase').toString('hex').slice(2, 14)],
  ])('are found %s', (_, secret, text) => {
    expect(learned(secret).hideParts(`error: ${text} is bad`)).toBe('error: [secret] is bad');
  });

  it('of less, of blanks and rules, and of nothing secret stay', () => {
    const texts = learned(TOKEN, 'a          ---------- b');
    for (const text of ['sk-live', '          x', 'z---------- z', 'Guard @x denied the operation', ''])
      expect(texts.hideParts(text)).toBe(text);
    expect(learned().hideParts(TOKEN)).toBe(TOKEN);
  });

  it('of a secret that is met later are hidden from then on', () => {
    const texts = learned('another secret of the run');
    expect(texts.hideParts(TOKEN.slice(2, 12))).toBe(TOKEN.slice(2, 12));
    texts.add(TOKEN);
    expect(texts.hideParts(TOKEN.slice(2, 12))).toBe('[secret]');
  });

  it('cost a message its length, however many secrets there are', () => {
    const message = `call failed: ${'nothing of it is known here '.repeat(10)}`;
    const workWith = (secrets: number): number => {
      const fragments = new SecretFragments();
      for (let i = 0; i < secrets; i++) fragments.add(`${i}-${'key'.repeat(100)}-${i}`);
      const looks = [vi.spyOn(String.prototype, 'charCodeAt'), vi.spyOn(String.prototype, 'includes')];
      try {
        expect(fragments.hide(message, '[secret]')).toBe(message);
        return looks.reduce((sum, { mock }) => sum + mock.calls.length, 0);
      } finally {
        for (const look of looks) look.mockRestore();
      }
    };
    expect(workWith(1000)).toBe(workWith(1));
  });
});
