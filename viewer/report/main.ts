/** Puts the report together: numbers, failures first, timeline, tree, tables, search. */
import { duration, money } from '../../cli/render/units.js';
import { details } from './details.js';
import { difference } from './difference.js';
import { element, section, table } from '../shared/dom.js';
import { readModel, type Model } from './model.js';
import { timelineView } from './timeline.js';
import { treeView } from './tree.js';
import type { Tally } from '../../replay/reports/timeline/report.js';

const FAILURES_MAX = 200;
const FOUND_MAX = 200;

function main(): void {
  const model = readModel();
  const { data, diff } = model;
  const panel = element(
    'aside',
    { id: 'panel', 'aria-label': 'Details', 'aria-live': 'polite', tabindex: '-1' },
    element('p', {}, 'Choose an operation.'),
  );
  const tree = treeView(model, choose);
  const timeline = timelineView(model, choose);

  function choose(span: number): void {
    panel.replaceChildren(details(model, span));
    timeline.choose(span);
  }
  function goTo(span: number): void {
    choose(span);
    tree.reveal(span);
  }

  const failures = failuresOf(model, goTo);
  const main = element(
    'main',
    {},
    ...(failures === undefined ? [] : [failures]),
    ...(diff === undefined ? [] : [difference(diff)]),
    section('Timeline', timeline.root),
    section('Operations', tree.root),
    section('By function', tallies('function', data.functions)),
    section('By phase', tallies('phase', data.phases)),
  );
  document.body.append(header(model, goTo), element('div', { class: 'columns' }, main, panel));
}

function header({ data, count, search, title }: Model, goTo: (span: number) => void): HTMLElement {
  const { total } = data;
  const numbers: readonly (readonly [string, string])[] = [
    ['status', data.status],
    ['took', duration(data.durationMs)],
    ['operations', count.toLocaleString('en')],
    ['executed', total.executed.toLocaleString('en')],
    ['reused', total.reused.toLocaleString('en')],
    ['failed', total.failed.toLocaleString('en')],
    ...unlessNone('denied', total.denied),
    ...unlessNone('not executed', total.notExecuted),
    ['attempts', total.attempts.toLocaleString('en')],
    ['cost', cost(total)],
    ['saved', total.savedUsd === null ? '–' : money(total.savedUsd)],
    ['tokens in', total.inputTokens?.toLocaleString('en') ?? '–'],
    ['tokens out', total.outputTokens?.toLocaleString('en') ?? '–'],
  ];
  const field = element('input', {
    type: 'search',
    id: 'search',
    placeholder: 'Search ( / )',
    'aria-label': 'Search operations',
    autocomplete: 'off',
  });
  const found = element('ul', { id: 'found', hidden: '' });
  const status = element('p', { id: 'count', role: 'status' });
  field.addEventListener('input', () => {
    const text = field.value.trim();
    found.hidden = text === '';
    const hits = text === '' ? { found: [], total: 0 } : search(text, FOUND_MAX);
    status.textContent =
      text === '' ? '' : `${hits.total} of ${count} operations${hits.total > FOUND_MAX ? `, the first ${FOUND_MAX}` : ''}`;
    found.replaceChildren(...hits.found.map((span) => link(title(span), data.spans.op[span] ?? '', () => goTo(span))));
  });
  field.addEventListener('keydown', (event) => {
    if (event.key === 'Escape') {
      field.value = '';
      field.dispatchEvent(new Event('input'));
    } else if (event.key === 'ArrowDown' || event.key === 'Enter') {
      event.preventDefault();
      found.querySelector('button')?.focus();
      if (event.key === 'Enter') found.querySelector('button')?.click();
    }
  });
  document.addEventListener('keydown', (event) => {
    if (event.key !== '/' || event.target instanceof HTMLInputElement) return;
    event.preventDefault();
    field.focus();
  });
  return element(
    'header',
    {},
    element('h1', {}, data.name),
    element('p', {}, `${data.workflow} · ${data.run} · ${data.started}`),
    element('dl', {}, ...numbers.map(([name, value]) => element('div', {}, element('dt', {}, name), element('dd', {}, value)))),
    ...(data.error === null ? [] : [element('p', { class: 'message' }, data.error)]),
    field,
    status,
    found,
  );
}

function link(text: string, about: string, act: () => void): HTMLElement {
  const button = element('button', { type: 'button', class: 'link' }, text, ' ', element('small', {}, about));
  button.addEventListener('click', act);
  return element('li', {}, button);
}

/** Lists the innermost failures only: an operation that fails makes those around it fail. */
function failuresOf(model: Model, goTo: (span: number) => void): HTMLElement | undefined {
  const { spans } = model.data;
  const failing = (span: number): boolean => ['failed', 'denied', 'not-executed', 'unfinished'].includes(model.stateOf(span));
  const all = [...spans.op.keys()].filter((span) => failing(span) && !model.childrenOf(span).some(failing));
  if (all.length === 0) return undefined;
  const shown = all.slice(0, FAILURES_MAX).map((span) => {
    const state = model.stateOf(span);
    return link(
      `${model.title(span)}: ${spans.message[span] || (state === 'unfinished' ? 'never ended' : state)}`,
      spans.op[span] ?? '',
      () => goTo(span),
    );
  });
  const more = all.length - shown.length;
  return section(
    `Failures: ${all.length}`,
    element('ul', { id: 'failures' }, ...shown),
    ...(more > 0 ? [element('p', {}, `and ${more} more`)] : []),
  );
}

function tallies(title: string, all: readonly Tally[]): HTMLElement {
  return table(
    [title, 'executed', 'reused', 'failed', 'attempts', 'tokens in', 'tokens out', 'cost', 'saved', 'time in calls'],
    all.map((each) => [
      each.name,
      each.executed,
      each.reused,
      each.failed,
      each.attempts,
      each.inputTokens ?? '–',
      each.outputTokens ?? '–',
      cost(each),
      each.savedUsd === null ? '–' : money(each.savedUsd),
      duration(each.callsMs),
    ]),
  );
}

/** Names the attempts of unknown cost, because unknown is not free. */
function cost({ costUsd, unpriced }: Tally): string {
  if (costUsd === null) return '–';
  return unpriced === 0 ? money(costUsd) : `${money(costUsd)} + ${unpriced} unpriced`;
}

function unlessNone(name: string, count: number): readonly (readonly [string, string])[] {
  return count === 0 ? [] : [[name, count.toLocaleString('en')]];
}

main();
