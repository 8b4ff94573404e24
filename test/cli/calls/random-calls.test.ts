/**
 * Calls that fail at random inside each other, with guards that ask for more: what a run says of them is what the next run says that reuses
 * its results, and --resume failed makes good exactly that. calls.md 14.1 and 15.5.
 */
import fs from 'node:fs';
import path from 'node:path';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { callCli } from '../../support/in-process/call-cli.js';
import { projectFolder } from '../../support/cli.js';

const WORDS = ['a', 'b', 'c'] as const;
type Word = (typeof WORDS)[number];

/** A loop over words that calls one function, and goes on with what has a result. */
interface Step {
  readonly words: readonly Word[];
  readonly callee: 'leaf' | 'inner';
}

interface Guard {
  readonly wanted: Word;
  /** It makes a call of its own. */
  readonly asks: boolean;
}

interface Program {
  readonly top: readonly Step[];
  readonly outer: readonly Step[];
  readonly inner: readonly Step[];
  readonly guards: Readonly<Partial<Record<'outer' | 'inner', Guard>>>;
  /** The number of times that @leaf fails for a word. */
  readonly failures: Readonly<Record<Word, number>>;
}

const word = fc.constantFrom(...WORDS);
const words = fc.uniqueArray(word, { minLength: 1, maxLength: 2 });
const steps = (...callees: readonly Step['callee'][]) =>
  fc.array(fc.record({ words, callee: fc.constantFrom(...callees) }), { minLength: 1, maxLength: 3 });
const failures = fc.constantFrom(0, 0, 1, 2, 99);
const guard = fc.record({ wanted: word, asks: fc.boolean() });
const program: fc.Arbitrary<Program> = fc.record({
  top: steps('inner', 'leaf'),
  outer: steps('leaf', 'inner'),
  inner: steps('leaf'),
  guards: fc.record({ outer: guard, inner: guard }, { requiredKeys: [] }),
  failures: fc.record({ a: failures, b: failures, c: failures }),
});

/** Fails as often as a file for the word says, and counts how often it was executed. */
const LEAF = `exe llm @leaf(q) = sh {
  echo x >> "made-$q"
  echo x >> made
  if [ "$(wc -l < "made-$q")" -le "$(cat "failures-$q")" ]; then echo '{"fail":{"class":"content","message":"no"}}' >> $MLLD_CALL_REPORT; fi
  echo "P:$q"
}
`;

function functionOf(name: 'outer' | 'inner', body: readonly Step[], guarded: Guard | undefined): string {
  const lines = body.flatMap(({ words: list, callee }, i) => [
    `  let @v${i} = for parallel(2) @n in ${JSON.stringify(list)} => @${callee}(@n)`,
    `  let @g${i} = for @p in @v${i} when !@p.mx.failed => @p`,
    `  let @t${i} = @g${i}.join("+")`,
  ]);
  const made = `exe llm @${name}(q) = [\n${lines.join('\n')}\n  => \`${name}(${body.map((_, i) => `@t${i}`).join(',')})\`\n]\n`;
  if (guarded === undefined) return made;
  const has = `@output.includes("P:${guarded.wanted}")`;
  const judge = `exe @judge_${name}(x) = [\n  let @votes = for parallel(2) @n in ["${guarded.wanted}"] => @leaf(@n)\n  => true\n]\n`;
  const condition = guarded.asks ? `@judge_${name}(@output) && !${has}` : `!${has}`;
  return `${made}${guarded.asks ? judge : ''}guard after @${name} = when [ @mx.guard.try < 3 && ${condition} => retry "more"\n  * => allow ]\n`;
}

function scriptOf({ top, outer, inner, guards }: Program): string {
  // At the top @outer is called where a step of a function would call @inner.
  const calls = top.map(
    ({ words: list, callee }, i) =>
      `var @top${i} = for parallel(2) @n in ${JSON.stringify(list)} => @${callee === 'inner' ? 'outer' : callee}(@n)\n`,
  );
  return `${LEAF}${functionOf('inner', inner, guards.inner)}${functionOf('outer', outer, guards.outer)}${calls.join('')}show "end"\n`;
}

it('are counted alike by the run that makes them and by those that reuse its results', { timeout: 120_000 }, async () => {
  await fc.assert(
    fc.asyncProperty(program, async (made) => {
      const files = Object.entries(made.failures).map(([each, count]) => [`failures-${each}`, String(count)] as const);
      const cwd = await projectFolder({ 'job.mld': scriptOf(made), made: '', ...Object.fromEntries(files) });
      const run = async (
        ...flags: string[]
      ): Promise<{ readonly status: number | undefined; readonly executed: number; readonly said: string }> => {
        fs.writeFileSync(path.join(cwd, 'made'), '');
        const { status, stderr } = await callCli(['job.mld', ...flags], { cwd });
        return { status, executed: fs.readFileSync(path.join(cwd, 'made'), 'utf8').length / 2, said: stderr };
      };
      const first = await run('--checkpoint');
      expect([0, 4], first.said).toContain(first.status);
      const again = await run('--resume');
      if (again.executed === 0) expect(again.status, again.said).toBe(first.status);
      expect((await callCli(['journal', 'replay', 'latest'], { cwd })).status).toBe(0);
      for (const [file] of files) fs.writeFileSync(path.join(cwd, file), '0');
      const mended = await run('--resume', 'failed');
      expect(mended.status, mended.said).toBe(0);
      if (again.status === 0) expect(mended.executed, mended.said).toBe(0);
      for (const flags of [['--resume'], ['--resume', 'failed']]) expect(await run(...flags)).toMatchObject({ status: 0, executed: 0 });
    }),
    { numRuns: 25 },
  );
});
