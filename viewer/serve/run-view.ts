/** Shows one run: its drawing, nodes, questions and context. Updated by the run's events. */
import type { JournalEvent } from '../../journal/event.js';
import { duration } from '../../cli/render/units.js';
import { element, section, table } from '../shared/dom.js';
import type { Api, Status } from './api.js';
import { callWords, hasCalls } from './calls.js';
import { pollOnChange } from './poll.js';
import { applyTo, endOf, type Nodes, type NodeView } from './nodes.js';
import { picture } from './picture.js';
import { questions } from './questions.js';

export interface RunView {
  readonly root: HTMLElement;
  close(): void;
}

const SHOWN_MAX = 2000;

/** `onChange` is called when the run's status changes. */
export function runView(api: Api, { id, pipeline_name: name, ...known }: Status, onChange: () => void): RunView {
  const closing = new AbortController();
  const nodes: Nodes = new Map();
  let chosen: string | undefined;
  let word = known.status;

  const status = element('p', { id: 'status', role: 'status' });
  const money = element('p', { id: 'calls', hidden: '' });
  const problem = element('p', { class: 'message', role: 'alert', hidden: '' });
  const cancel = element('button', { type: 'button', id: 'cancel', hidden: '' }, 'Cancel');
  cancel.addEventListener('click', () => {
    cancel.disabled = true;
    api.cancel(id).catch((error: unknown) => {
      cancel.disabled = false;
      report(error);
    });
  });
  const resume = element('button', { type: 'button', id: 'resume', hidden: '' }, 'Resume');
  resume.addEventListener('click', () => {
    resume.disabled = true;
    api
      .resume(id)
      .then(updateRun, report)
      .finally(() => (resume.disabled = false));
  });
  const questionList = questions(async (question, value) => {
    await api.answer(id, question, value);
    updateRun();
  });
  const drawing = picture(name, choose);
  const list = element('div', { id: 'nodes' });
  const context = element('div', { id: 'context' });
  const panel = element('aside', { id: 'panel', 'aria-label': 'Node', 'aria-live': 'polite', tabindex: '-1' }, 'Choose a node.');
  const main = element(
    'main',
    {},
    element('h1', {}, name, ' ', element('small', {}, id)),
    element('div', { class: 'bar' }, status, cancel, resume),
    money,
    problem,
    questionList.root,
    section('Graph', drawing.root),
    section('Nodes', list),
    section('Context', context),
  );

  function choose(node: string): void {
    chosen = node;
    showNode();
  }

  function showNode(): void {
    if (chosen !== undefined) panel.replaceChildren(...details(chosen, nodes.get(chosen)));
  }

  function showStatus(now: Status): void {
    const isInFlight = now.status === 'running' || now.status === 'waiting';
    const gates = Object.entries(now.goal_gate_status).map(([node, gate]) => `${node} ${gate}`);
    status.textContent = [
      now.status,
      ...(now.current_node === null ? [] : [`${isInFlight ? 'at' : 'last'} ${now.current_node}`]),
      `${now.completed_nodes} nodes done`,
      ...(gates.length === 0 ? [] : [`gates: ${gates.join(', ')}`]),
    ].join(' · ');
    status.className = `state ${now.status}`;
    money.hidden = !hasCalls(now.calls);
    money.textContent = callWords(now.calls);
    cancel.hidden = !isInFlight;
    resume.hidden = isInFlight || now.status === 'completed';
  }

  const updateRun = pollOnChange(closing.signal, async () => {
    try {
      const [now, open, values] = await Promise.all([api.status(id), api.questions(id), api.context(id)]);
      showStatus(now);
      questionList.show(open);
      context.replaceChildren(
        table(
          ['key', 'value'],
          Object.entries(values).map(([key, value]) => [key, shortened(value)]),
        ),
      );
      list.replaceChildren(nodeTable([...nodes.values()], choose));
      showNode();
      problem.hidden = true;
      if (now.status !== word) onChange();
      word = now.status;
    } catch (error) {
      report(error);
    }
  });
  const updateGraph = pollOnChange(closing.signal, async () => {
    try {
      drawing.show(await api.graph(id));
      for (const node of nodes.values()) mark(node);
    } catch (error) {
      drawing.refuse((error as Error).message);
    }
  });
  function mark({ id: node, state, visitCount }: NodeView): void {
    drawing.mark(node, { status: state, visits: visitCount });
  }

  function report(error: unknown): void {
    problem.textContent = (error as Error).message;
    problem.hidden = false;
  }

  updateRun();
  updateGraph();
  const onEvent = (event: JournalEvent): void => {
    const node = applyTo(nodes, event);
    if (node) {
      mark(node);
      updateGraph();
    }
    if (node || !/^(op|effect)\./.test(event.type)) updateRun();
  };
  api.follow(id, onEvent, closing.signal).then(() => {
    endOf(nodes);
    updateRun();
    updateGraph();
  }, report);
  return {
    root: element('div', { class: 'columns' }, main, panel),
    close() {
      closing.abort();
      questionList.close();
    },
  };
}

function nodeTable(nodes: readonly NodeView[], choose: (node: string) => void): HTMLElement {
  return table(
    ['node', 'state', 'visits', 'attempts', 'took'],
    nodes.map(({ id, state, visitCount, visits }) => {
      const link = element('button', { type: 'button', class: 'link' }, id);
      link.addEventListener('click', () => choose(id));
      const latest = visits.at(-1);
      return [
        link,
        element('span', { class: `state ${state}` }, state.replace('_', ' ')),
        visitCount,
        latest?.attempts ?? 0,
        latest ? duration(latest.elapsedMs) : '',
      ];
    }),
  );
}

function details(id: string, node: NodeView | undefined): readonly HTMLElement[] {
  const title = element('h2', {}, id);
  if (!node) return [title, element('p', {}, 'Not visited yet.')];
  const latest = node.visits.at(-1);
  const facts: readonly (readonly [string, string])[] = [
    ['state', node.state.replace('_', ' ')],
    ['handler', node.handler],
    ['visits', String(node.visitCount)],
    ...(latest
      ? ([
          ['attempts', String(latest.attempts)],
          ['took', duration(latest.elapsedMs)],
        ] as const)
      : []),
  ];
  const text = (name: string, body: string): readonly HTMLElement[] =>
    body === '' ? [] : [element('h4', {}, name), element('pre', {}, body.slice(0, SHOWN_MAX))];
  return [
    title,
    element('dl', {}, ...facts.map(([name, value]) => element('div', {}, element('dt', {}, name), element('dd', {}, value)))),
    ...text('Retries', node.retries.join('\n')),
    ...text('Reason', latest?.failure ?? ''),
    ...text('Notes', latest?.notes ?? ''),
    ...text('Output', latest?.output ?? ''),
    ...(node.visits.length > 1
      ? [
          element('h4', {}, 'Visits'),
          table(
            ['visit', 'outcome', 'attempts', 'took'],
            node.visits.map(({ visit, status, attempts, elapsedMs }) => [visit, status.replace('_', ' '), attempts, duration(elapsedMs)]),
          ),
        ]
      : []),
  ];
}

function shortened(value: unknown): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return text.length > SHOWN_MAX ? `${text.slice(0, SHOWN_MAX)}…` : text;
}
