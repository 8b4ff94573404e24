/** Questions that are answered from elsewhere, and at a terminal. */
import { afterEach, expect, it } from 'vitest';
import { consoleInterviewer } from '../../src/graph/people/console.js';
import { answerQuestion } from '../../src/run/graph-answer.js';
import { pipeline, workshop, type Workshop } from '../support/pipeline-run.js';

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
  expect((await answerQuestion({ store, project, run: id, text: 'open' })).choice.key).toBe('O');
  expect((await running).status).toBe('completed');
  await expect(answerQuestion({ store, project, run: id, text: 'O' })).rejects.toMatchObject({ code: 'QUESTION_CLOSED' });
});

it('asks again at a terminal until something fits', async () => {
  place = workshop(ASKING);
  const lines = ['maybe', '', 'o'];
  let shown = '';
  const people = consoleInterviewer({ write: (text) => void (shown += text), readLine: async () => lines.shift() });
  const { checkpoint } = await place.run({ people });
  expect(checkpoint.context['human.gate.selected']).toBe('O');
  expect(shown).toContain('  [S] Keep shut\n  [O] Open\n');
  expect(shown).toContain('"maybe" fits none');
});

it('takes no end of the run for an answer, however early it comes', async () => {
  place = workshop(ASKING);
  const ending = new AbortController();
  const onEvent = ({ type }: { type: string }): void => void (type === 'question.asked' && ending.abort());
  const { report } = await place.run({ people: 'remote', signal: ending.signal, onEvent });
  expect(report.status).toBe('interrupted');
  const resumed = await place.run({ resume: '' });
  expect(resumed.report.status).toBe('completed');
  expect(resumed.events.map(({ type }) => type)).toContain('question.asked');
});
