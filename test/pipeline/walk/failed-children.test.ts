/** A resume of a pipeline that failed with its child continues the child and pays for none of its results again. graph-pipelines.md 7.8. */
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { Fact } from '../../../journal/event.js';
import { runIdAt, seqOf, startOf, type RunId, type Workflow } from '../../../journal/ids.js';
import type { Backend } from '../../../src/pipeline/stage/backend.js';
import type { PipelineReport, PipelineRunOptions } from '../../../src/session/pipeline/run-pipeline-options.js';
import { pipeline, workshop, type Workshop } from '../../support/pipeline-run.js';
import { started } from '../../support/written-runs.js';

const CHILD = pipeline('a [prompt="one"]; b [prompt="two"]; c [prompt="three"]; start -> a -> b -> c -> exit');
const BOSS = 'boss [shape=house, "manager.poll_interval"="10ms"]';
const TO_CHILD = '"stack.child_dotfile"="child.dot"';

let place: Workshop;
let asked: string[] = [];
/** Nodes that fail when they are asked. */
const failing = new Set<string>();

beforeEach(() => {
  asked = [];
  failing.clear();
  failing.add('b');
});
afterEach(() => place.remove());

const execute: Backend['execute'] = async ({ node }) => {
  asked.push(node.id);
  if (failing.has(node.id)) throw Object.assign(new Error('refused'), { status: 400 });
  return { reply: node.id };
};

function run(options: Partial<PipelineRunOptions> = {}): Promise<PipelineReport> {
  asked = [];
  return place.begin({ backend: 'own:', backends: new Map([['own', () => ({ name: 'own:', execute })]]), ...options });
}

function withBoss(body: string, attributes = TO_CHILD): void {
  place = workshop(pipeline(body, attributes));
  place.write('child.dot', CHILD);
}

const childrenOf = async (): Promise<number> => (await place.store.runs('child.dot' as Workflow)).length;

it('continues the child at the node that failed, as often as it fails', async () => {
  withBoss(`before [prompt="zero"]; ${BOSS}; start -> before -> boss -> exit`);
  expect((await run()).status).toBe('failed');
  expect(asked).toEqual(['before', 'a', 'b']);
  expect((await run({ resume: '' })).status).toBe('failed');
  expect(asked).toEqual(['b']);
  failing.clear();
  expect((await run({ resume: '' })).status).toBe('completed');
  expect(asked).toEqual(['b', 'c']);
});

it('continues the child of a child', async () => {
  withBoss(`${BOSS}; start -> boss -> exit`, '"stack.child_dotfile"="middle.dot"');
  place.write('middle.dot', pipeline(`before [prompt="zero"]; ${BOSS}; start -> before -> boss -> exit`, TO_CHILD));
  await run();
  expect(asked).toEqual(['before', 'a', 'b']);
  failing.clear();
  expect((await run({ resume: '' })).status).toBe('completed');
  expect(asked).toEqual(['b', 'c']);
});

it('continues the child that the interrupted resume continued', async () => {
  withBoss(`${BOSS}; start -> boss -> exit`);
  await run();
  failing.clear();
  const ending = new AbortController();
  const atEnd: Backend['execute'] = async (request, ...more) => {
    const reply = await execute(request, ...more);
    if (request.node.id === 'c') ending.abort();
    return reply;
  };
  const backends = new Map([['own', () => ({ name: 'own:', execute: atEnd })]]);
  expect((await run({ resume: '', backends, signal: ending.signal })).status).toBe('interrupted');
  expect(asked).toEqual(['b', 'c']);
  expect((await run({ resume: '' })).status).toBe('completed');
  expect(asked).toEqual([]);
});

const FAN = `fan [shape=component, error_policy=fail_fast]; other [prompt="more"]; join [shape=tripleoctagon]
  start -> fan; fan -> other -> join; join -> exit`;

it('continues the child of a branch at the node that failed, as often as its parallel node fails', async () => {
  withBoss(`${FAN}; ${BOSS}; fan -> boss -> join`);
  expect((await run()).status).toBe('failed');
  expect(asked.toSorted()).toEqual(['a', 'b', 'other']);
  expect((await run({ resume: '' })).status).toBe('failed');
  expect(asked).toEqual(['b']);
  failing.clear();
  expect((await run({ resume: '' })).status).toBe('completed');
  expect(asked).toEqual(['b', 'c']);
});

it('continues the child of a branch inside a branch', async () => {
  withBoss(`${FAN}; within [shape=component, join_policy=k_of_n, k=2]; aside [prompt="less"]; ${BOSS}; meet [shape=tripleoctagon]
    fan -> within; within -> boss -> meet; within -> aside -> meet; meet -> join`);
  await run();
  expect(asked.toSorted()).toEqual(['a', 'aside', 'b', 'other']);
  failing.clear();
  expect((await run({ resume: '' })).status).toBe('completed');
  expect(asked).toEqual(['b', 'c']);
});

it('continues the child of a branch that was called off when another branch failed', async () => {
  withBoss(`${FAN}; ${BOSS}; fan -> boss -> join`);
  failing.clear();
  failing.add('other');
  let begun = (): void => undefined;
  const inB = new Promise<void>((resolve) => (begun = resolve));
  const slowly: Backend['execute'] = async (request, frame, ...more) => {
    if (request.node.id === 'other') await inB;
    if (request.node.id !== 'b' || !failing.has('other')) return execute(request, frame, ...more);
    begun();
    return new Promise((_, reject) => request.signal.addEventListener('abort', () => reject(new Error('called off'))));
  };
  const backends = new Map([['own', () => ({ name: 'own:', execute: slowly })]]);
  expect((await run({ backends })).status).toBe('failed');
  expect(asked).toEqual(['a', 'other']);
  failing.clear();
  expect((await run({ backends, resume: '' })).status).toBe('completed');
  expect(asked.toSorted()).toEqual(['b', 'c', 'other']);
});

it('continues the child behind other nodes of its branch, and not one whose failure was handled there', async () => {
  withBoss(`${FAN}; before [prompt="zero"]; ${BOSS}; fan -> before -> boss -> join`);
  await run();
  await run({ resume: '' });
  expect(asked).toEqual(['b']);
  place.remove();
  withBoss(`${FAN}; ${BOSS}; mend [prompt="mend"]; fan -> boss -> join; boss -> mend [condition="outcome=fail"]; mend -> join`);
  failing.add('mend');
  await run();
  await run({ resume: '' });
  expect(asked).toEqual(['mend']);
});

it('begins a child anew where the manager is named, or comes after the node that is', async () => {
  withBoss(`before [prompt="zero"]; ${BOSS}; start -> before -> boss -> exit`);
  await run();
  await run({ resume: 'boss' });
  expect(asked).toEqual(['a', 'b']);
  failing.clear();
  expect((await run({ resume: 'before' })).status).toBe('completed');
  expect(asked).toEqual(['before', 'a', 'b', 'c']);
  await run({ resume: 'before' });
  expect(asked).toEqual(['before', 'a', 'b', 'c']);
});

it('continues after a resume at a named node what that began, and not what the runs before it had', async () => {
  withBoss(`${BOSS}; start -> boss -> exit`);
  failing.clear();
  failing.add('c');
  await run();
  failing.add('a');
  await run({ resume: 'boss' });
  expect(asked).toEqual(['a']);
  failing.clear();
  expect((await run({ resume: '' })).status).toBe('completed');
  expect(asked).toEqual(['a', 'b', 'c']);
});

it('begins a child anew in the retries of the manager and in the visits of its loops', async () => {
  const retries = BOSS.replace(']', ', max_retries=1, retry_delay="1ms"]');
  withBoss(`${retries}; again [shape=parallelogram, tool_command="test -e been || { touch been; exit 1; }"]
    start -> boss -> again; again -> boss [condition="outcome=fail"]; again -> exit`);
  failing.clear();
  expect((await run()).status).toBe('completed');
  expect(asked).toEqual(['a', 'b', 'c', 'a', 'b', 'c']);
});

it('takes the end of a child that was resumed by itself since', async () => {
  withBoss(`${BOSS}; start -> boss -> exit`);
  await run();
  failing.clear();
  expect((await run({ file: `${place.folder}/child.dot`, name: 'child.dot', resume: '' })).status).toBe('completed');
  expect((await run({ resume: '' })).status).toBe('completed');
  expect(asked).toEqual([]);
  expect(await childrenOf()).toBe(2);
});

it('continues a node and its child where the resume that was to enter it died before that', async () => {
  withBoss(`${BOSS}; start -> boss -> exit`);
  await run();
  failing.clear();
  const workflow = 'p.dot' as Workflow;
  const [first] = await place.store.runs(workflow);
  const { run: failed } = first?.ref ?? { run: '' as RunId };
  let end = seqOf(0);
  await place.store.scan({ workflow, run: failed }, ({ seq }) => void (end = seq));
  const ref = { workflow, run: runIdAt(startOf(failed) + 1, '0000') };
  const died = await place.store.create(ref);
  await died.append({ ...started(ref), pipeline: 'g', flags: { resume: '' }, resume: { run: failed, seq: end }, enterAt: 'boss' } as Fact);
  await died.close();
  expect((await run({ resume: '' })).status).toBe('completed');
  expect(asked).toEqual(['b', 'c']);
});
