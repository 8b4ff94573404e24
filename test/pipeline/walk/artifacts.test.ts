/** Named outputs that handlers store, look at and remove. graph-pipelines.md 8.4. */
import { existsSync } from 'node:fs';
import path from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { opPath, seqOf, type OpPath } from '../../../journal/ids.js';
import { nextOutput, recordedWalk } from '../../../replay/recording/recorded-walk.js';
import type { Backend } from '../../../src/pipeline/stage/backend.js';
import { outputId, type Artifacts } from '../../../src/pipeline/stage/artifacts.js';
import type { Handler } from '../../../src/pipeline/handlers/handler.js';
import { outcomeOf } from '../../../src/pipeline/model/outcome.js';
import { pipeline, workshop, type PipelineRun, type Workshop } from '../../support/pipeline-run.js';

let place: Workshop | undefined;
afterEach(() => place?.remove());

const LARGE = { soundings: 'x'.repeat(110_000) };

/** Stages `a`, `b`, ... do these in order. */
async function stages(...deeds: readonly ((artifacts: Artifacts) => Promise<unknown>)[]): Promise<PipelineRun> {
  const ids = deeds.map((_, i) => String.fromCharCode(97 + i));
  place = workshop(pipeline(`${ids.map((id) => `${id} [type=${id}]`).join('; ')}; start -> ${ids.join(' -> ')} -> exit`));
  return place.run({ handlers: handlersOf(deeds), runDirectory: 'run' });
}

function handlersOf(deeds: readonly ((artifacts: Artifacts) => Promise<unknown>)[]): ReadonlyMap<string, Handler> {
  return new Map(
    deeds.map((deed, i): [string, Handler] => [
      String.fromCharCode(97 + i),
      { handle: async ({ artifacts }) => (await deed(artifacts), outcomeOf('success')) },
    ]),
  );
}

it('are of each branch, where branches share the stage that stores them', async () => {
  place = workshop(
    pipeline(
      `fan [shape=component]; a [prompt="A"]; b [prompt="B"]; say [prompt="say"]; meet [shape=tripleoctagon]
       print [shape=parallelogram, tool_command="node -p '\\"x\\".repeat(110000)'"]; start -> fan; fan -> a -> say; fan -> b -> say
       say -> print -> meet; meet -> again; again [shape=parallelogram, tool_command="node -p '\\"y\\".repeat(110000)'"]; again -> exit`,
    ),
  );
  const execute: Backend['execute'] = async ({ node, branch }) => ({
    reply: node.id === 'say' ? (branch?.id ?? '').repeat(110_000) : '',
  });
  const { checkpoint } = await place.run({ backend: 'own:', backends: new Map([['own', () => ({ name: 'own:', execute })]]) });
  expect(checkpoint.artifacts.map(({ id }) => id).toSorted()).toEqual([
    'again.0.output',
    'fan.0.0.print.0.output',
    'fan.0.0.say.0.response',
    'fan.0.1.print.0.output',
    'fan.0.1.say.0.response',
  ]);
});

it('are called in a replay as in the record, which may be of an older program', () => {
  const op = opPath('main/fan#0[1]/t#0');
  const stored = { type: 'artifact.stored', op, id: 't.0.output', name: 'output', node: 't', sizeBytes: 1, fileBacked: false } as const;
  const walk = recordedWalk.initial();
  walk.facts.set(`artifact.stored ${op}`, [{ ...stored, payload: { inline: '' }, v: 1, seq: seqOf(1), ts: '', hash: '' }]);
  const stage = {
    run: { recordedOutputId: (of: OpPath, name: string) => nextOutput(walk, of, name) },
    nodeOp: op,
    node: { id: 't' },
    visit: 0,
  };
  expect(outputId(stage, 'output')).toBe('t.0.output');
  expect(outputId(stage, 'response')).toBe('fan.0.1.t.0.response');
});

it('have a short id where a long one would be refused', () => {
  const long = 'x'.repeat(100);
  const op = opPath(`main/${long}#0[1]/${long}#2[0]/t#1`);
  expect(outputId({ run: {}, nodeOp: op, node: { id: 't' }, visit: 1 }, 'output')).toMatch(/^t\.1\.[0-9a-f]{16}\.output$/);
});

const fileOf = (id: string): string => path.join(place?.folder ?? '', 'run', 'artifacts', `${id}.json`);

it('are there for later stages, as files too when they are large', async () => {
  const seen: unknown[] = [];
  const { report, checkpoint } = await stages(
    async ({ store }) => (await store('small', 'a note', ['x', 1]), store('large', 'a chart', LARGE)),
    async ({ retrieve, has, list }) => {
      seen.push(await retrieve('small'), await retrieve('large'), has('large'), has('other'));
      seen.push(list().map(({ id, name, is_file_backed: isFile }) => [id, name, isFile]));
    },
  );
  expect(report.status).toBe('completed');
  const entries = [
    ['small', 'a note', false],
    ['large', 'a chart', true],
  ];
  expect(seen).toEqual([['x', 1], LARGE, true, false, entries]);
  expect(checkpoint.artifacts).toMatchObject([
    { id: 'small', size_bytes: 7 },
    { id: 'large', path: 'artifacts/large.json' },
  ]);
  expect(JSON.parse(place?.read('run/artifacts/large.json') ?? '')).toEqual(LARGE);
  expect(existsSync(fileOf('small'))).toBe(false);
});

it('are gone when they are removed, and the file with them', async () => {
  const seen: unknown[] = [];
  const { events, checkpoint } = await stages(
    async ({ store }) => (await store('x', 'x', LARGE), await store('y', 'y', 1), store('z', 'z', 2)),
    async ({ remove, list }) => (
      await remove('x'),
      seen.push(
        list().map(({ id }) => id),
        existsSync(fileOf('x')),
      )
    ),
    async ({ clear, list }) => (await clear(), seen.push(list())),
  );
  expect(seen).toEqual([['y', 'z'], false, []]);
  expect(events.flatMap((event) => (event.type === 'artifact.removed' ? [event.id] : []))).toEqual(['x', 'y', 'z']);
  expect(checkpoint.artifacts).toEqual([]);
});

it('survive a crash, by reference', async () => {
  const first = await stages(
    async ({ store }) => store('kept', 'kept', LARGE),
    async () => Promise.reject(new Error('the mast broke')),
  );
  expect(first.report.status).toBe('failed');
  const seen: unknown[] = [];
  const deeds = [async () => undefined, async ({ retrieve }: Artifacts) => seen.push(await retrieve('kept'))];
  const second = await place?.run({ handlers: handlersOf(deeds), runDirectory: 'run', resume: '' });
  expect(second?.report.status).toBe('completed');
  expect(seen).toEqual([LARGE]);
});

it.each([
  ['an unknown id', ({ retrieve }: Artifacts) => retrieve('nobody'), 'there is no artifact nobody'],
  ['an unknown id to remove', ({ remove }: Artifacts) => remove('nobody'), 'there is no artifact nobody'],
  ['an id that leaves the folder', ({ store }: Artifacts) => store('../../x', 'x', 1), `"../../x" can't be the id`],
])('%s is an error of the stage', async (_, deed, message) => {
  const { report } = await stages(deed);
  expect(report.status).toBe('failed');
  expect((report.error as Error).message).toContain(message);
});
