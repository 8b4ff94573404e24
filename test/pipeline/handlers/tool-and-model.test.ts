import { describe, expect, it } from 'vitest';
import { handlersWith } from '../../../src/pipeline/handlers/built-in.js';
import { codergen } from '../../../src/pipeline/handlers/codergen.js';
import type { Handler } from '../../../src/pipeline/handlers/handler.js';
import { tool } from '../../../src/pipeline/handlers/tool.js';
import { outcomeOf } from '../../../src/pipeline/model/outcome.js';
import { bareStage } from '../../support/bare-stage.js';

const ended = (result: { readonly stdout?: string; readonly stderr?: string; readonly exitCode?: number }) => ({
  perform: (kind: string) => {
    expect(kind).toBe('command.run');
    return { stdout: '', stderr: '', exitCode: 0, durationMs: 1, ...result };
  },
});
const RUNS = 'a [shape=parallelogram, tool_command="make"]; start -> a -> exit';

describe('a tool stage', () => {
  it('puts the output of its command into the context, without the last line end', async () => {
    const { stage, files } = bareStage(RUNS, ended({ stdout: 'built\n', stderr: 'slowly' }));
    expect(await tool.handle(stage)).toMatchObject({
      status: 'success',
      context_updates: { 'tool.output': 'built', 'tool.exit_code': 0 },
    });
    expect(Object.fromEntries(files)).toMatchObject({ 'stdout.txt': 'built\n', 'stderr.txt': 'slowly' });
  });

  it('keeps a large output as an artifact, and its beginning in the context', async () => {
    const stdout = 'x'.repeat(200_000);
    const { stage, artifacts } = bareStage(RUNS, ended({ stdout }));
    const outcome = await tool.handle(stage);
    expect(outcome?.context_updates).toMatchObject({ 'tool.output_artifact': 'a.1.output' });
    expect(String(outcome?.context_updates['tool.output']).length).toBeLessThan(2000);
    expect(artifacts.get('a.1.output')).toBe(stdout);
  });

  it.each([
    [4, 'transient', 'the command ended with status 4: no ink'],
    [127, 'permanent', 'the command ended with status 127: no ink'],
  ])('fails with status %i as %s', async (exitCode, kind, message) => {
    const { stage } = bareStage(RUNS, ended({ exitCode, stderr: 'warming up\nno ink\n' }));
    await expect(tool.handle(stage)).rejects.toMatchObject({ kind, message, updates: { 'tool.exit_code': exitCode } });
  });

  it('fails for good without a command', async () => {
    const { stage } = bareStage('a [shape=parallelogram]; start -> a -> exit');
    await expect(tool.handle(stage)).rejects.toMatchObject({ kind: 'permanent', message: expect.stringContaining('tool_command') });
  });
});

describe('a model stage', () => {
  const replying = (reply: string, outcome?: ReturnType<typeof outcomeOf>) => ({
    services: {
      backend: 'mine',
      backends: new Map([['mine', () => ({ name: 'mine', execute: async () => ({ reply, ...(outcome && { outcome }) }) })]]),
    },
  });

  it('puts the beginning of its reply into the context, and all of it into its folder', async () => {
    const reply = `ebb ${'x'.repeat(1000)}`;
    const { stage, files } = bareStage('a [prompt="ask"]; start -> a -> exit', replying(reply));
    const outcome = await codergen.handle(stage);
    expect(outcome).toMatchObject({ status: 'success', context_updates: { last_stage: 'a' } });
    expect(String(outcome?.context_updates['last_response']).length).toBeLessThan(300);
    expect(Object.fromEntries(files)).toMatchObject({ 'prompt.md': 'ask', 'response.md': reply });
  });

  it('asks with its label where it has no prompt, and ends as its backend reports', async () => {
    const report = outcomeOf('fail', { failure_reason: 'no ink' });
    const { stage, files } = bareStage('a [label="Print it"]; start -> a -> exit', replying('sorry', report));
    expect(await codergen.handle(stage)).toMatchObject({ status: 'fail', failure_reason: 'no ink', context_updates: { last_stage: 'a' } });
    expect(files.get('prompt.md')).toBe('Print it');
  });
});

describe('the table of handlers', () => {
  it('has the built-in ones, and lets those of a program replace them, timed and with reports', async () => {
    const own = { handle: async () => outcomeOf('skipped') };
    const handlers = handlersWith(
      new Map<string, Handler>([
        ['tool', own],
        ['print', { ...own, callsModel: true }],
      ]),
    );
    expect(handlers.get('codergen')).toBe(codergen);
    const handle = expect.any(Function) as Handler['handle'];
    expect(handlers.get('tool')).toEqual({ handle, isTimed: true, mayReport: true });
    expect(handlers.get('print')).toEqual({ handle, callsModel: true, isTimed: true, mayReport: true });
    const { stage } = bareStage('a; start -> a -> exit');
    expect(await handlers.get('tool')?.handle(stage)).toMatchObject({ status: 'skipped' });
    expect(await handlers.get('conditional')?.handle(stage)).toMatchObject({ status: 'success' });
  });
});
