/** Handlers and backends of a program may return anything: HOST-5 of `src/api/host-functions.ts`. */
import { describe, expect, it } from 'vitest';
import {
  openMemoryStore,
  outcomeOf,
  runPipeline,
  verifyRun,
  type Backend,
  type Handler,
  type PipelineRunRequest,
} from '../../src/api/index.js';
import { projectFolder } from '../support/cli.js';
import { pipeline } from '../support/pipeline-run.js';

async function runWith(stage: string, members: Partial<PipelineRunRequest>) {
  const store = openMemoryStore();
  const report = await runPipeline({
    file: 'ferry.dot',
    workingDirectory: await projectFolder({ 'ferry.dot': pipeline(`a [${stage}]; start -> a -> exit`) }),
    people: 'auto',
    io: { stdout: () => undefined, stderr: () => undefined },
    openStore: async () => store,
    ...members,
  });
  const ref = report.journal ?? expect.unreachable('the run is recorded');
  return { report, violations: (await verifyRun(store, ref)).violations };
}

/** A program in JavaScript returns what it likes. */
const withHandler = (handler: unknown) => runWith('type=weigh', { handlers: new Map([['weigh', handler as Handler]]) });
const returning = (outcome: unknown) => withHandler({ handle: async () => outcome });
const withBackend = (backend: unknown) =>
  runWith('prompt="Name it", backend="house:x"', { backends: new Map([['house', () => backend as Backend]]) });
const replying = (reply: unknown) => withBackend({ name: 'house:x', execute: async () => reply });

class Scales {
  readonly weight = 12;
  async handle() {
    return outcomeOf('success', { context_updates: { weight: this.weight } });
  }
}

describe('a handler', () => {
  it('may be an instance of a class', async () => {
    expect((await withHandler(new Scales())).report.status).toBe('completed');
  });

  it('may return a part of an outcome, and updates that become JSON', async () => {
    expect((await returning({ status: 'success' })).report.status).toBe('completed');
    expect((await returning({ status: 'success', context_updates: { at: new Date(0), none: undefined } })).report.status).toBe('completed');
  });

  it.each([
    ['a number', 42, 'it is not an object'],
    ['no status', {}, 'its "status" has to be one of success'],
    ['a wrong status', { status: 'great' }, 'its "status" has to be one of success'],
    ['a number in the place of notes', { status: 'success', notes: 4 }, 'its "notes" has to be a string'],
    ['updates that are not JSON', { status: 'success', context_updates: { n: 3n } }, 'its "context_updates" are not JSON'],
  ])('that returns %s fails its stage, and the run ends in order', async (_, outcome, why) => {
    const { report, violations } = await returning(outcome);
    const message = expect.stringContaining(`the outcome of the handler weigh can't be used: ${why}`) as string;
    expect(report).toMatchObject({ status: 'failed', error: { code: 'STAGE_FAILED', message } });
    expect(violations).toEqual([]);
  });

  it.each([
    ['handlers', { weigh: new Scales() }, 'handlers is an object'],
    ['handlers', new Map([['weigh', async () => outcomeOf('success')]]), 'the handler weigh has no function "handle"'],
    ['backends', new Map([['house', { name: 'house' }]]), 'the backend house is not a function'],
  ])('of the wrong kind is refused before anything happens (%s)', async (member, value, message) => {
    const request = runWith('type=weigh', { [member]: value });
    await expect(request).rejects.toMatchObject({ code: 'BAD_OPTION', message: expect.stringContaining(message) as string });
  });
});

describe('a backend', () => {
  it.each([
    ['undefined', undefined],
    ['a text', 'Sloop'],
    ['a reply that is no text', { reply: 4 }],
  ])('that replies with %s fails its stage and is not reused', async (_, reply) => {
    const { report, violations } = await replying(reply);
    const message = expect.stringContaining('the backend house:x has to reply with a text "reply"') as string;
    expect(report).toMatchObject({ status: 'failed', calls: { executed: 0 }, error: { message } });
    expect(violations).toEqual([]);
  });

  it.each([
    ['has no name', { execute: async () => ({ reply: 'x' }) }],
    ['is a promise', Promise.resolve({ name: 'house:x', execute: async () => ({ reply: 'x' }) })],
    ['is nothing', undefined],
  ])('that %s fails its stage with what it needs', async (_, backend) => {
    const { report } = await withBackend(backend);
    const message = expect.stringContaining('has to have a text "name" and a function "execute"') as string;
    expect(report).toMatchObject({ status: 'failed', error: { message } });
  });

  it('may reply with a part of an outcome', async () => {
    const { report } = await replying({ reply: 'Sloop', outcome: { status: 'fail', failure_reason: 'too short' } });
    expect(report).toMatchObject({ status: 'failed', error: { message: expect.stringContaining('too short') as string } });
  });

  it('that never ends is recorded as failed before its stage and its run end', { timeout: 20_000 }, async () => {
    const execute = async (): Promise<never> => new Promise(() => undefined);
    const backends = new Map([['house', () => ({ name: 'house:x', execute })]]);
    const { report, violations } = await runWith('prompt="Name it", backend="house:x"', { backends, timeoutMs: 200 });
    expect(report.status).toBe('timed-out');
    expect(violations).toEqual([]);
  });
});
