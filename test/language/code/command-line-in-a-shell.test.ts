/** Values in `cmd`, handed to a real shell. control.md 5.3. */
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { canonicalJson, sha256 } from '../../../journal/canonical.js';
import { isTruthy } from '../../../src/values/truth.js';
import { runScript } from '../../support/in-fake-world.js';
import { FakeWorld } from '../../support/fake-world.js';

interface ShellCommand {
  readonly code: string;
  readonly executed?: string;
}

/** Returns the commands that a script hands to the shell. */
async function requestsFor(script: string, v: unknown): Promise<ShellCommand[]> {
  const commands: ShellCommand[] = [];
  const fake = new FakeWorld();
  const world = Object.assign(Object.create(fake) as FakeWorld, {
    perform: async (kind: never, request: never) => {
      if (kind !== 'command.run') return fake.perform(kind, request);
      commands.push(request);
      return { stdout: '', stderr: '', exitCode: 0, durationMs: 0 };
    },
  });
  const { error } = await runScript(`var @v = @payload.v\n${script}\n`, { world: world as never, payload: { v } as never });
  if (error) throw error;
  return commands;
}

const command = (source: string): string => `run cmd {${source}}`;

async function executedFor(script: string, v: unknown): Promise<string> {
  const [command] = await requestsFor(script, v);
  return command?.executed ?? command?.code ?? '';
}

/** `probe` prints its arguments separated by NUL, `show` prints them as text. */
const PRELUDE = `
probe() { for a; do printf '%s\\000' "$a"; done; }
show() { for a; do printf '[%s]' "$a"; done; }
P='ab*c' E= 
`;

let folder: string;
beforeAll(() => {
  folder = fs.mkdtempSync(path.join(os.tmpdir(), 'mlld-words-'));
  for (const name of ['one', 'two', 'a*', '-n']) fs.writeFileSync(path.join(folder, name), '');
});
afterAll(() => fs.rmSync(folder, { recursive: true, force: true }));

/** Returns the arguments that each command received, in order. */
function argumentsSeen(shell: string, commands: readonly string[]): string[][] {
  const script = PRELUDE + commands.map((command) => `${command}\nprintf '\\001\\000'\n`).join('');
  const [program = '', ...args] = shell.split(' ');
  const stdout = execFileSync(program, args, { cwd: folder, input: script, encoding: 'utf8' });
  return stdout
    .split('\u0001\0')
    .slice(0, -1)
    .map((received) => (received === '' ? [] : received.slice(0, -1).split('\0')));
}

const SHELLS = ['sh', 'bash --posix'];
/** A busy machine takes long to start the thousands of processes of one test. */
const SHELL_MS_MAX = 240_000;

const words = (v: string): string[] => v.split(/[ \t\r\n]+/).filter((word) => word !== '');
/** Splits a value at its blanks; the text around it joins the first and the last word. */
const glued = (before: string, v: string, after: string): string[] => words(before + v + after);
const shown = (list: readonly string[]): string => list.map((word) => `[${word}]`).join('');
const isWholeNumber = (v: string): boolean => /^\s*[-+]?\d+\s*$/.test(v);
const decimal = (v: string): boolean => isWholeNumber(v) && !/^\s*[-+]?0\d/.test(v) && v.trim().length < 10;

interface Context {
  readonly source: string;
  /** Returns the arguments that `probe` receives. */
  readonly received: (v: string) => string[];
  /** Outside quotes an operator in a text is an error. */
  readonly isBare?: true;
  readonly isNumber?: true;
}

const contexts: readonly Context[] = [
  { source: 'probe @v', received: words, isBare: true },
  { source: 'probe "@v"', received: (v) => [v] },
  { source: 'probe --opt=@v', received: (v) => glued('--opt=', v, ''), isBare: true },
  { source: 'probe pre@v/post', received: (v) => glued('pre', v, '/post'), isBare: true },
  { source: 'probe "a @v b"', received: (v) => [`a ${v} b`] },
  { source: `probe a@v"@v"'@v'`, received: (v) => lastGlued(v), isBare: true },
  { source: `probe x # it's @v "`, received: () => ['x'] },
  { source: `probe '@v' \\@v @@v`, received: () => ['@v', '@v', '@v'] },
  { source: 'probe "\\\\@v" \\\\"@v"', received: (v) => [`\\${v}`, `\\${v}`] },
  { source: 'probe "$@v"', received: (v) => [`$${v}`] },
  { source: 'probe $@v', received: (v) => words(`$${v}`), isBare: true },
  { source: 'probe "`show @v`"', received: (v) => [shown(words(v))], isBare: true },
  { source: 'probe "`show \\"@v\\"`"', received: (v) => [shown([v])] },
  { source: 'probe "`show "@v" $@v`"', received: (v) => [shown([v, ...words(`$${v}`)])], isBare: true },
  { source: 'probe "`show \\"\\`show @v\\`\\"`"', received: (v) => [shown([shown(words(v))])], isBare: true },
  { source: 'probe "$(show @v)"', received: (v) => [shown(words(v))], isBare: true },
  { source: 'probe "$(show "@v" \'@v\')"', received: (v) => [shown([v, '@v'])] },
  { source: 'probe "${E:-@v}"', received: (v) => [v] },
  { source: 'probe ${E:-"@v"}', received: (v) => [v] },
  { source: 'probe ${E:-@v}', received: words, isBare: true },
  {
    source: 'probe "${P#@v}" ${P#"@v"}',
    received: (v) => Array<string>(2).fill('ab*c'.startsWith(v) ? 'ab*c'.slice(v.length) : 'ab*c'),
  },
  { source: 'X=@v\nprobe "$X"', received: (v) => [v], isBare: true },
  { source: 'X=@v probe x', received: () => ['x'], isBare: true },
  { source: 'case @v in\n(@v) probe same\nesac', received: () => ['same'], isBare: true },
  { source: 'if [ "@v" = "@v" ]\nthen\nprobe yes\nfi', received: () => ['yes'] },
  { source: 'for x in @v\ndo\nprobe "$x"\ndone', received: words, isBare: true },
  { source: 'probe $((@v)) "$((@v + 0))"', received: (v) => Array<string>(2).fill(String(Number(v))), isNumber: true },
  { source: 'probe "$(cat <<END\n@v "@v"\nEND\n)"', received: (v) => [`${v} "${v}"`] },
  { source: `probe "$(cat <<'END'\n@v\nEND\n)"`, received: () => ['@v'] },
  { source: 'f() {\nprobe "@v" @v\n}\nf other', received: (v) => [v, ...words(v)], isBare: true },
  { source: 'probe @v | cat', received: words, isBare: true },
  { source: 'probe a @v?`--s "@v"` z', received: (v) => (isTruthy(v) ? ['a', '--s', v, 'z'] : ['a', 'z']) },
  { source: 'probe a@v?`-@v`z', received: (v) => (isTruthy(v) ? glued('a-', v, 'z') : ['az']), isBare: true },
];

function lastGlued(v: string): string[] {
  const split = v.split(/[ \t\r\n]+/);
  const last = split.pop() ?? '';
  const before = split.length === 0 ? [] : [`a${split[0]}`, ...split.slice(1)];
  return [...before, `${split.length === 0 ? 'a' : ''}${last}${v}@v`];
}

const hasOperator = (v: string): boolean => /[;&|<>]/.test(v);

const payloads: readonly string[] = [
  'plain',
  'two words',
  'fine\ntouch pwned',
  '\ntouch pwned',
  'fine\r\ntouch pwned\r\n',
  'a\rb',
  ' lead',
  'trail ',
  '\t',
  '',
  '$(touch pwned)',
  '`touch pwned`',
  '${IFS}',
  '$HOME',
  '$',
  '$$',
  '$0',
  '\\',
  'a\\',
  '\\\\',
  '\\n',
  "'",
  '"',
  "''",
  '""',
  `'"'"'`,
  "it's",
  '"; touch pwned; "',
  "'; touch pwned; '",
  '; touch pwned',
  '&& touch pwned',
  '|| touch pwned',
  '| touch pwned',
  '& touch pwned',
  '> pwned',
  '>pwned',
  '< /etc/passwd',
  '<(touch pwned)',
  ') touch pwned',
  '(touch pwned)',
  '{ touch pwned',
  '}',
  '}\ntouch pwned\n{',
  '*',
  '?',
  '[a-z]*',
  'a*',
  '~',
  '~root',
  '-n',
  '--help',
  '#',
  '# comment',
  '!',
  '!!',
  '=',
  'PATH=/nowhere',
  '%s%n',
  '\u0001\u007f\u0088',
  'é\u00a0ü',
  '日本 語',
  '😀',
  '\u2028',
  'END\ntouch pwned',
  'END\n)"\ntouch pwned\n"',
  'a[$(touch pwned)]',
  'x=$(touch pwned)',
  '1',
  '-7',
  ' 12 ',
  '1+1',
  '$((1))',
  '@v',
  '\\`touch pwned\\`',
  '`\\`touch pwned\\``',
  "$'\\n'",
  'esac\ntouch pwned',
  '*) touch pwned',
  'a}b',
  '"}$(touch pwned)',
  'x'.repeat(3000),
];

interface Case {
  readonly source: string;
  readonly received: readonly string[];
  readonly executed: string;
  readonly readable: string;
}

/** Returns the valid commands of all contexts with this value, and the arguments that they have to receive. */
async function casesFor(v: string): Promise<Case[]> {
  const possible = contexts.filter(({ isBare, isNumber }) => !(isBare && hasOperator(v)) && !(isNumber && !decimal(v)));
  const commands = await requestsFor(possible.map(({ source }) => command(source)).join('\n'), v);
  return commands.map(({ code, executed = code }, i) => {
    const { source, received } = possible[i] as Context;
    return { source, received: received(v), executed, readable: code };
  });
}

describe('a value in a command', () => {
  let cases: Case[][];
  beforeAll(async () => {
    cases = await Promise.all(payloads.map(casesFor));
  }, 60_000);

  async function expectAll(shell: string, form: 'executed' | 'readable'): Promise<void> {
    for (const [i, v] of payloads.entries()) expectReceived(shell, v, cases[i] ?? [], form);
    expect(fs.readdirSync(folder).sort()).toEqual(['-n', 'a*', 'one', 'two']);
  }

  function expectReceived(shell: string, v: string, list: readonly Case[], form: 'executed' | 'readable'): void {
    const seen = argumentsSeen(
      shell,
      list.map((one) => one[form]),
    );
    expect(seen.map((received, i) => [v, list[i]?.source, received])).toEqual(list.map(({ source, received }) => [v, source, received]));
  }

  describe.each(SHELLS)('in %s', { timeout: SHELL_MS_MAX }, (shell) => {
    it('is passed as the same words in every position, whatever it holds', async () => expectAll(shell, 'executed'));

    it('reads as a command that does the same', async () => expectAll(shell, 'readable'));
  });

  it('is passed unchanged, whatever the text', { timeout: SHELL_MS_MAX }, async () => {
    const text = fc
      .oneof(fc.string({ unit: 'binary' }), fc.string({ unit: fc.constantFrom(...'\'"`$\\ \n\t*?[]{}()#!~=-abE;&|<>') }))
      .filter((v) => !/[\0\u0001]/.test(v))
      .map((v) => Buffer.from(v).toString());
    await fc.assert(
      fc.asyncProperty(text, async (v) => expectReceived('sh', v, await casesFor(v), 'executed')),
      { numRuns: 40 },
    );
  });

  it.each(['a;b', 'x && y', 'a | b', '<in', '>out', 'a&'])('with an operator in it is refused outside quotes: %s', async (v) => {
    for (const { source } of contexts.filter(({ isBare }) => isBare))
      await expect(requestsFor(command(source), v), source).rejects.toMatchObject({ code: 'SHELL_OPERATOR' });
  });

  it.each([
    '$((@v))',
    '"$((1 + @v))"',
    '$[@v]',
    '((@v))',
    '[[ "@v" -eq 1 ]]',
    'a[@v]=1',
    '$(( $(echo "@v") ))',
    '$((`echo @v`))',
    '[[ 1 -eq "$(echo @v)" ]]',
    '[[ "@v" -e\\\nq 1 ]]',
    'a[ @v ]=1',
    'a[$(echo "@v")]=1',
    'a[b["@v"]]+=1',
    'a=([@v]=1)',
    'declare -A a=(x ["@v"]=1)',
  ])('is a whole number or an error where bash computes: %s', async (place) => {
    await expect(requestsFor(command(`echo x\n${place}`), 7)).resolves.toBeDefined();
    for (const v of ['a[$(touch pwned)]', '1+1', '', 'x'])
      await expect(requestsFor(command(`echo x\n${place}`), v)).rejects.toMatchObject({ code: 'SHELL_NUMBER' });
  });

  it('is passed unchanged where bash reads more than other shells', async () => {
    const received = async (source: string): Promise<unknown> =>
      argumentsSeen('bash --posix', [await executedFor(command(source), 'a $(x)')])[0];
    expect(await received('a=(x @v "@v" [7]=@v) # (\nprobe "${a[@@]}"')).toEqual(['x', 'a', '$(x)', 'a $(x)', 'a $(x)']);
    expect(await received(`probe $'it\\'s @v' "@v"`)).toEqual(["it's @v", 'a $(x)']);
  });

  it('is JSON in one word when it is data, and a word when it is a scalar', async () => {
    const received = async (v: unknown): Promise<unknown> => argumentsSeen('sh', [await executedFor(command('probe @v'), v)])[0];
    expect(await received({ a: 'b  c;' })).toEqual(['{"a":"b  c;"}']);
    expect(await received(['p', ['q r']])).toEqual(['["p",["q r"]]']);
    expect(await received(['p', 'q r', 3, null, true])).toEqual(['p', 'q', 'r', '3', 'null', 'true']);
    expect(await received([])).toEqual([]);
  });

  it('is the same in a command that is written as a string', async () => {
    const received = async (written: string): Promise<unknown> => argumentsSeen('sh', [await executedFor(written, 'a\nb $(x)')])[0];
    expect(await received(`run "probe @v \\"@v\\" '@v' --o=@v"`)).toEqual(['a', 'b', '$(x)', 'a\nb $(x)', '@v', '--o=a', 'b', '$(x)']);
  });

  it('is recorded as people read it', async () => {
    const { facts } = await runScript('var @v = "two  words"\nrun cmd {echo @v "@v" it}', { records: true });
    const code = 'echo two  words "two  words" it';
    // The digest is that of earlier versions, whose records replay.
    const request = sha256(canonicalJson({ language: 'cmd', code, directory: '/p', variables: {} }));
    expect(facts.find(({ type }) => type === 'effect.performed')).toMatchObject({ subject: code, request });
  });
});
