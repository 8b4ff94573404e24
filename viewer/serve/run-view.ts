/** One run: its picture, what its nodes did, what it asks, its context. Kept current by its events. */
import { duration, element, section, table } from '../dom.js';
import type { Api, Status } from './api.js';
import { applyTo, type Nodes, type NodeView } from './nodes.js';
import { picture } from './picture.js';
import { questions } from './questions.js';

export interface RunView {
  readonly root: HTMLElement;
  close(): void;
}

/** Between two looks at the server, so that a fast run doesn't keep it busy. */
const REST_MS = 300;
const SHOWN_MAX = 2000;

export function runView(api: Api, { id, pipeline_name: name }: Status, onChange: () => void): RunView {
  const closing = new AbortController();
  const nodes: Nodes = new Map();
  let chosen: string | undefined;

  const status = element('p', { id: 'status', role: 'status' });
  const trouble = element('p', { class: 'message', role: 'alert', hidden: '' });
  const cancel = element('button', { type: 'button', id: 'cancel', hidden: '' }, 'Cancel');
  cancel.addEventListener('click', () => {
    cancel.disabled = true;
    api.cancel(id).catch((error: unknown) => {
      cancel.disabled = false;
      tell(error);
    });
  });
  const asked = questions(async (question, value) => {
    await api.answer(id, question, value);
    look();
  });
  const drawing = picture(name, choose);
  const list = element('div', { id: 'nodes' });
  const context = element('div', { id: 'context' });
  const panel = element('aside', { id: 'panel', 'aria-label': 'Node', 'aria-live': 'polite', tabindex: '-1' }, 'Choose a node.');
  const main = element(
    'main',
    {},
    element('h1', {}, name, ' ', element('small', {}, id)),
    element('div', { class: 'bar' }, status, cancel),
    trouble,
    asked.root,
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
    const goes = now.status === 'running' || now.status === 'waiting';
    const gates = Object.entries(now.goal_gate_status).map(([node, gate]) => `${node} ${gate}`);
    status.textContent = [
      now.status,
      ...(now.current_node === null ? [] : [`${goes ? 'at' : 'last'} ${now.current_node}`]),
      `${now.completed_nodes} nodes done`,
      ...(gates.length === 0 ? [] : [`gates: ${gates.join(', ')}`]),
    ].join(' · ');
    status.className = `state ${now.status}`;
    cancel.hidden = !goes;
  }

  let isLooking = false;
  let isStale = false;
  /** One look at a time; what changes meanwhile is seen by the next. */
  function look(): void {
    isStale = true;
    if (!isLooking) void keepLooking();
  }
  async function keepLooking(): Promise<void> {
    isLooking = true;
    while (isStale && !closing.signal.aborted) {
      isStale = false;
      try {
        const [now, open, values, svg] = await Promise.all([api.status(id), api.questions(id), api.context(id), api.graph(id)]);
        showStatus(now);
        asked.show(open);
        context.replaceChildren(
          table(
            ['key', 'value'],
            Object.entries(values).map(([key, value]) => [key, shortened(value)]),
          ),
        );
        drawing.show(svg);
        list.replaceChildren(nodeTable([...nodes.values()], choose));
        showNode();
        trouble.hidden = true;
        onChange();
      } catch (error) {
        tell(error);
      }
      await new Promise((resolve) => setTimeout(resolve, REST_MS));
    }
    isLooking = false;
  }

  function tell(error: unknown): void {
    trouble.textContent = (error as Error).message;
    trouble.hidden = false;
  }

  look();
  api
    .follow(
      id,
      (event) => {
        if (applyTo(nodes, event) || event.type.startsWith('question.') || event.type === 'context.updated') look();
      },
      closing.signal,
    )
    .then(look, tell);
  return {
    root: element('div', { class: 'columns' }, main, panel),
    close() {
      closing.abort();
      asked.close();
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
  const text = (name: string, content: string): readonly HTMLElement[] =>
    content === '' ? [] : [element('h4', {}, name), element('pre', {}, content.slice(0, SHOWN_MAX))];
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
