/** A program that starts runs is told its own options, and not the flags of the command line. */
import path from 'node:path';
import { expect, it } from 'vitest';
import { JournalError } from '../../journal/errors.js';
import { run, runPipeline, workflow, MlldError } from '../../src/api/index.js';
import { OF_PIPELINES, OF_PROGRAMS, OF_SCRIPTS, withProgramHints } from '../../src/api/reports/program-hints.js';
import { pausedError } from '../../src/session/pause-error.js';
import { projectFolder } from '../support/cli.js';

const SCRIPT = 'exe llm @ask(q) = js { return q }\nvar @a = @ask("a")\nvar @b = @ask("b")\nshow @b\n';
const quiet = { stdout: () => undefined, stderr: () => undefined };

const hintOf = ({ error }: { readonly error?: Error }): string | undefined => (error instanceof MlldError ? error.hint : undefined);

it('names members of the request in the hint of a paused run, and flags where the command line started it', async () => {
  const request = {
    workingDirectory: await projectFolder({ 'job.mld': SCRIPT }),
    script: { kind: 'file', path: 'job.mld' },
    cache: { fresh: true },
    calls: { budget: { calls: 1 } },
    io: quiet,
  } as const;
  expect(hintOf(await run(request as never))).toBe('run it again with cache.resume and a larger calls.budget');
  expect(hintOf(await run({ ...request, argv: ['job.mld'] } as never))).toBe('run it again with --resume and a larger --budget');
});

it('does so in pipelines and programs', async () => {
  const cwd = await projectFolder({
    'f.mld': 'exe llm @ask(prompt, node, context) = js { return "r" }\nexport { @ask }\n',
    'p.dot': 'digraph p { start [shape=Mdiamond]; exit [shape=Msquare]; a [prompt="A", backend="exe:f.mld#ask"]; start -> a -> exit }',
  });
  const piped = await runPipeline({
    file: path.join(cwd, 'p.dot'),
    workingDirectory: cwd,
    calls: { budget: { calls: 0 } } as never,
    io: quiet,
  });
  expect(hintOf(piped)).toBe('run it again with resume and a larger calls.budget');
  const two = workflow('two', async (ctx) => {
    await ctx.llm('ask', ['a'], async () => ctx.usage({ costUsd: 2 }) ?? null);
    return ctx.llm('ask', ['b'], async () => null);
  });
  expect(hintOf(await two.run(null, { project: cwd, budget: '1usd' }))).toBe('run it again with resume and a budget of at least 2usd');
});

const SEALED = { class: 'journal', message: 'sealed', error: new JournalError('STORE_SEALED', 'sealed') } as const;

it.each([
  ['a script', OF_SCRIPTS, 'cache.resume'],
  ['a pipeline', OF_PIPELINES, 'resume'],
  ['a program', OF_PROGRAMS, 'resume'],
] as const)('names the member that resumes the sealed run of %s, beside a command in brackets', (_what, words, member) => {
  const { error } = withProgramHints({ error: pausedError({ pausedBy: SEALED }) }, { argv: [], words });
  expect(error.hint).toBe(
    `where no other process goes on with it (mlld journal list), run it again with ${member}: a new run reuses what is recorded`,
  );
});
