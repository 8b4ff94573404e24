/** Questions are answered by another process, and at a terminal. */
import { existsSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { consoleInterviewer } from '../../../src/pipeline/human/console.js';
import { callbackInterviewer } from '../../../src/pipeline/human/interviewer.js';
import { answerQuestion, runToAnswer } from '../../../src/session/pipeline/answer-question.js';
import { temporaryFolder } from '../../journal/support/folder.js';
import { pipeline, workshop, type Workshop } from '../../support/pipeline-run.js';

const ASKING = pipeline(
  'ask [shape=hexagon, label="Open it?"]; open; shut; start -> ask; ask -> shut [label="[S] Keep shut"]; ask -> open [label="[O] Open"]; open -> exit; shut -> exit',
);

let place: Workshop | undefined;
afterEach(() => place?.remove());

it('takes an answer that another process gives while it waits', async () => {
  place = workshop(ASKING);
  const { store, folder } = place;
  const project = { root: folder } as Parameters<typeof answerQuestion>[0]['project'];
  let told = (_run: string): void => undefined;
  const asked = new Promise<string>((resolve) => (told = resolve));
  let run = '';
  const running = place.begin({
    people: 'remote',
    onState: ({ runId }) => void (run = runId ?? ''),
    onEvent: ({ type }) => void (type === 'question.asked' && told(run)),
  });
  const id = await asked;
  await expect(answerQuestion({ store, project, run: id, text: 'maybe' })).rejects.toMatchObject({ code: 'ANSWER_UNFIT' });
  await expect(answerQuestion({ store, project, run: id, text: 'O', question: 'q7' })).rejects.toMatchObject({ code: 'QUESTION_CLOSED' });
  const standpoint = { ...place.options().project, workingDirectory: folder };
  for (const name of ['latest', 'p', 'p.dot', 'p.dot@1', id, id.slice(0, -2)]) expect(await runToAnswer(store, standpoint, name)).toBe(id);
  await expect(runToAnswer(store, standpoint, 'q')).rejects.toMatchObject({ code: 'RUN_UNKNOWN' });
  // The run of a colleague, in the store of a team: nothing on this machine would read the answer.
  const elsewhere = temporaryFolder();
  const there = { ...project, root: elsewhere };
  await expect(answerQuestion({ store, project: there, run: id, text: 'O' })).rejects.toMatchObject({ code: 'RUN_ELSEWHERE' });
  expect(readdirSync(elsewhere)).toEqual([]);
  expect((await answerQuestion({ store, project, run: id, text: 'open' })).choice.key).toBe('O');
  expect((await running).status).toBe('completed');
  await expect(answerQuestion({ store, project, run: id, text: 'O' })).rejects.toMatchObject({ code: 'QUESTION_CLOSED' });
  await expect(runToAnswer(store, standpoint, 'latest')).rejects.toMatchObject({ message: 'No pipeline waits for an answer' });
});

it('asks again at a terminal until something fits', async () => {
  place = workshop(ASKING);
  const lines = ['maybe', '', 'o'];
  let shown = '';
  const people = consoleInterviewer({ write: (text) => void (shown += text), readLine: async () => lines.shift() });
  const { checkpoint } = await place.run({ people });
  expect(checkpoint.context['human.gate.selected']).toBe('O');
  expect(shown).toContain('  [S] Keep shut\n  [O] Open\n');
  expect(shown).toContain('"maybe" is not one of the choices');
});

it('does not take an end of the run for an answer, however early it is', async () => {
  place = workshop(ASKING);
  const ending = new AbortController();
  const onEvent = ({ type }: { type: string }): void => void (type === 'question.asked' && ending.abort());
  const { report } = await place.run({ people: 'remote', signal: ending.signal, onEvent });
  expect(report.status).toBe('interrupted');
  const resumed = await place.run({ resume: '' });
  expect(resumed.report.status).toBe('completed');
  expect(resumed.events.map(({ type }) => type)).toContain('question.asked');
});

const ALIKE = pipeline(
  `ask [shape=hexagon, label="What now?"]; ship; stop
   start -> ask; ask -> ship [label="Approve"]; ask -> stop [label="Abort"]; ship -> exit; stop -> exit`,
);

it.each([
  ['Abort', 'stop', 'Abort'],
  ['stop', 'stop', 'Abort'],
  ['a', 'ship', 'A'],
])('takes %j for the choice that it means, where two have one key', async (given, target, recorded) => {
  place = workshop(ALIKE);
  const { checkpoint, events } = await place.run({ people: callbackInterviewer(async () => given) });
  expect(checkpoint.node_history.map(({ node_id: id }) => id)).toEqual(['start', 'ask', target, 'exit']);
  expect(checkpoint.context).toMatchObject({ 'human.gate.selected': 'A', 'human.gate.label': target === 'stop' ? 'Abort' : 'Approve' });
  expect(events.find(({ type }) => type === 'question.answered')).toMatchObject({ answer: recorded });
});

it('takes the default of the question, where two choices have one key', async () => {
  place = workshop(ALIKE.replace('What now?"', 'What now?", timeout="5ms", human.default_choice=stop'));
  const { checkpoint } = await place.run({ people: callbackInterviewer(() => new Promise(() => undefined)) });
  expect(checkpoint.context['human.gate.label']).toBe('Abort');
});

it.each(['Abort', 'stop'])('hands on %j from elsewhere as what it means, where two choices have one key', async (text) => {
  place = workshop(ALIKE);
  const { store, folder } = place;
  const project = { root: folder } as Parameters<typeof answerQuestion>[0]['project'];
  let run = '';
  const { report, checkpoint } = await place.run({
    people: 'remote',
    onState: ({ runId }) => void (run = runId ?? ''),
    onEvent: ({ type }) => void (type === 'question.asked' && answerQuestion({ store, project, run, text })),
  });
  expect(report.status).toBe('completed');
  expect(checkpoint.context['human.gate.label']).toBe('Abort');
});

it('leaves no report of the visit before while it waits', async () => {
  place = workshop(pipeline('ask [shape=hexagon]; start -> ask; ask -> ask [label=Again]; ask -> exit [label=Leave]'));
  const report = path.join(place.folder, 'run', 'ask', 'status.json');
  const there: boolean[] = [];
  const people = callbackInterviewer(async () => {
    await expect.poll(() => existsSync(report)).toBe(false);
    there.push(existsSync(report));
    return there.length < 2 ? 'Again' : 'Leave';
  });
  expect((await place.run({ people, runDirectory: 'run' })).report.status).toBe('completed');
  expect(there).toEqual([false, false]);
  expect(existsSync(report)).toBe(true);
});
