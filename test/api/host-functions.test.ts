/** The functions that a program hands to a run break nothing of it: HOST-1 to HOST-4 and HOST-6 of `src/api/host-functions.ts`. */
import { describe, expect, it } from 'vitest';
import { openMemoryStore, run, runPipeline, type RunRequest } from '../../src/api/index.js';
import { projectFolder } from '../support/cli.js';
import { pipeline } from '../support/pipeline-run.js';

const TEXT = 'exe llm @ask(q) = js { return "A:" + q }\nfor @q in ["ebb", "flood"] => show @ask(@q)\n';

/** As an async function does, which JavaScript takes for one that returns nothing. */
const rejecting = (message: string): void => Promise.reject(new Error(message)) as unknown as undefined;

async function runWith(members: Partial<RunRequest>) {
  const said: string[] = [];
  const report = await run({
    script: { kind: 'text', text: TEXT, name: 'tide.mld' },
    workingDirectory: await projectFolder({}),
    cache: { checkpoint: true },
    openStore: async () => openMemoryStore(),
    ...members,
    io: { stdout: () => undefined, stderr: (text) => void said.push(text), ...members.io },
  });
  return { report, said };
}

describe.each([
  ['throws', (): void => expect.unreachable('no boat')],
  ['returns a promise that rejects', (): void => rejecting('no boat')],
])('a function that %s', (_, broken) => {
  it.each(['onEvent', 'onProgress'])('as %s is told once, and the run goes on', async (name) => {
    let calls = 0;
    const listener = (): unknown => {
      calls++;
      return broken();
    };
    const { report, said } = await runWith({ [name]: listener });
    expect(report).toMatchObject({ status: 'completed', calls: { executed: 2 } });
    expect(said.filter((text) => text.startsWith('warning'))).toEqual([
      expect.stringMatching(`^warning: ${name} failed, and the run goes on: .*no boat`),
    ]);
    expect(calls).toBeGreaterThan(2);
  });

  it('as a listener of a pipeline is told once, and the run goes on', async () => {
    const cwd = await projectFolder({ 'ferry.dot': pipeline('a [shape=parallelogram, tool_command="true"]; start -> a -> exit') });
    const said: string[] = [];
    const io = { stdout: () => undefined, stderr: (text: string): void => void said.push(text) };
    const { status } = await runPipeline({
      file: 'ferry.dot',
      workingDirectory: cwd,
      io,
      onEvent: broken,
      onState: broken,
      onCheckpoint: broken,
    });
    expect(status).toBe('completed');
    const told = said.flatMap((text) => /^warning: (\w+) failed/.exec(text)?.[1] ?? []);
    expect(told.toSorted()).toEqual(['onCheckpoint', 'onEvent', 'onState']);
  });
});

describe('standard error', () => {
  it.each([
    ['throws', (): void => expect.unreachable('no lamp')],
    ['rejects', (): void => rejecting('no lamp')],
  ])('that %s ends no run, whatever is written to it', async (_, stderr) => {
    const text = `${TEXT}log "low water"\nrun {exit 3}\n`;
    const onEvent = (): void => expect.unreachable('no boat');
    const io = { stderr, message: stderr };
    const { report } = await runWith({ script: { kind: 'text', text, name: 'tide.mld' }, onEvent, io });
    expect(report).toMatchObject({ status: 'completed', calls: { executed: 2 } });
  });
});

describe('standard input', () => {
  it('that throws fails the script in order, and what was paid for is kept', async () => {
    const stdin = (): Promise<undefined> => Promise.reject(new Error('the boat is gone'));
    const text = `${TEXT}import { @crew } from "@input"\nshow @crew\n`;
    const { report } = await runWith({ script: { kind: 'text', text, name: 'tide.mld' }, io: { stdin } });
    expect(report.error).toMatchObject({ code: 'INPUT_FAILED', message: 'io.stdin threw: the boat is gone' });
    expect(report).toMatchObject({ status: 'failed', calls: { executed: 2 } });
  });
});

describe.each(['nowMs', 'monotonicMs'] as const)('a clock io.%s', (clock) => {
  it.each([
    ['throws from the first time on', 0, (): number => expect.unreachable('it has stopped')],
    ['throws later', 2, (): number => expect.unreachable('it has stopped')],
    ['returns NaN', 2, () => NaN],
    ['returns nothing', 2, () => undefined as unknown as number],
    ['returns a Date', 2, () => new Date(0) as unknown as number],
    ['returns a promise', 0, () => Promise.resolve(1) as unknown as number],
  ])('that %s is told once, and the run goes on from its last time', async (_, good, broken) => {
    const startMs = Date.UTC(2030, 0);
    let reads = 0;
    const io = { [clock]: () => (++reads <= good ? startMs + reads : broken()) };
    const { report, said } = await runWith({ io, timeoutMs: 60_000 });
    expect(report).toMatchObject({ status: 'completed', calls: { executed: 2 } });
    expect(said.filter((text) => text.startsWith('warning'))).toEqual([
      expect.stringMatching(`^warning: io.${clock} failed, and the run goes on: `),
    ]);
    if (clock === 'nowMs' && good > 0) expect(report.journal?.run).toMatch(/^20300101-000000-/);
    expect(reads).toBe(good + 1);
  });

  it('that a pipeline is given is guarded, too', async () => {
    const cwd = await projectFolder({ 'ferry.dot': pipeline('a [shape=parallelogram, tool_command="true"]; start -> a -> exit') });
    const said: string[] = [];
    const io = {
      stdout: () => undefined,
      stderr: (text: string): void => void said.push(text),
      [clock]: () => expect.unreachable('stopped'),
    };
    expect(await runPipeline({ file: 'ferry.dot', workingDirectory: cwd, io })).toMatchObject({ status: 'completed' });
    expect(said.filter((text) => text.startsWith(`warning: io.${clock} failed`))).toHaveLength(1);
  });
});

describe('an output', () => {
  it('that throws fails the script in order, and what was paid for is kept', async () => {
    const stdout = (): void => {
      throw new Error('the pipe is closed');
    };
    const { report } = await runWith({ io: { stdout } });
    expect(report).toMatchObject({ status: 'failed', calls: { executed: 1 } });
    expect(report.error).toMatchObject({ code: 'OUTPUT_FAILED', message: 'io.stdout threw: the pipe is closed' });
  });

  it('whose promise rejects is told once, and the run goes on', async () => {
    const stdout = (): void => rejecting('the pipe is closed');
    const { report, said } = await runWith({ io: { stdout } });
    expect(report.status).toBe('completed');
    expect(said).toContain('warning: io.stdout failed, and the run goes on: the pipe is closed\n');
  });
});
