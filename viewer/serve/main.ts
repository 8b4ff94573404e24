/** Shows the page of a server: its runs, the chosen one, and the form for the token where the server demands one. */
import { element } from '../shared/dom.js';
import { ApiError, createApi, type Api, type Status } from './api.js';
import { hasCalls, listWords } from './calls.js';
import { runView, type RunView } from './run-view.js';

const LIST_MS = 2000;
/** A long list takes longer, and is requested less often. */
const LIST_FACTOR = 10;
const TOKEN = 'token';

async function main(): Promise<void> {
  let api = createApi(sessionStorage.getItem(TOKEN) ?? undefined);
  for (;;) {
    try {
      await api.list();
      break;
    } catch (error) {
      if (!(error instanceof ApiError && error.status === 401)) throw error;
      const token = await askForToken(sessionStorage.getItem(TOKEN) === null ? '' : 'This is not the token.');
      sessionStorage.setItem(TOKEN, token);
      api = createApi(token);
    }
  }
  await showRuns(api);
}

async function showRuns(api: Api): Promise<never> {
  const list = element('ul', {});
  const place = element('div', { id: 'run' }, element('main', {}, element('p', {}, 'Choose a run.')));
  const lost = element('p', { class: 'message', role: 'alert', hidden: '' }, 'The server does not respond.');
  document.body.replaceChildren(
    element('div', { class: 'shell' }, element('nav', { 'aria-label': 'Runs' }, element('h2', {}, 'Runs'), lost, list), place),
  );
  let view: RunView | undefined;
  let shown: { readonly id: string; readonly isInFlight: boolean } | undefined;
  let listed = '';
  let wake: () => void = () => undefined;

  function choose(runs: readonly Status[]): void {
    const id = location.hash.slice(1);
    const run = runs.find((candidate) => candidate.id === id) ?? (id === '' ? runs[0] : undefined);
    if (!run) return;
    const isInFlight = run.status === 'running' || run.status === 'waiting';
    const isShown = run.id === shown?.id && (shown.isInFlight || !isInFlight); // an ended run that is in flight again was resumed elsewhere
    shown = { id: run.id, isInFlight };
    if (isShown) return;
    view?.close();
    view = runView(api, run, () => wake());
    place.replaceChildren(view.root);
    document.title = `${run.pipeline_name} ${run.id}`;
  }

  function show(runs: readonly Status[]): void {
    choose(runs);
    const text = JSON.stringify([shown?.id, runs.map(({ id, status, current_node: node, calls }) => [id, status, node, calls])]);
    if (text === listed) return;
    listed = text;
    const focused = list.contains(document.activeElement) ? document.activeElement?.getAttribute('href') : undefined;
    list.replaceChildren(...(runs.length === 0 ? [element('li', {}, 'No pipeline has run here.')] : runs.map(entry)));
    if (focused) list.querySelector<HTMLElement>(`a[href="${CSS.escape(focused)}"]`)?.focus();
  }

  function entry({ id, pipeline_name: name, status, started_at: started, calls }: Status): HTMLElement {
    const link = element(
      'a',
      { href: `#${id}`, ...(id === shown?.id ? { 'aria-current': 'page' } : {}) },
      element('span', { class: `state ${status}` }, name),
      element('small', {}, `${status} · ${started.slice(0, 19).replace('T', ' ')}`),
      ...(hasCalls(calls) ? [element('small', {}, listWords(calls))] : []),
    );
    return element('li', {}, link);
  }

  window.addEventListener('hashchange', () => wake());
  for (;;) {
    const sinceMs = performance.now();
    try {
      show(await api.list());
      lost.hidden = true;
    } catch {
      lost.hidden = false;
    }
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, Math.max(LIST_MS, (performance.now() - sinceMs) * LIST_FACTOR));
      wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}

function askForToken(message: string): Promise<string> {
  const field = element('input', { type: 'password', id: 'token', autocomplete: 'off', required: '' });
  const form = element(
    'form',
    { 'aria-label': 'Token' },
    element('label', { for: 'token' }, 'Token of this server'),
    field,
    element('button', { type: 'submit' }, 'Open'),
    element('p', { class: 'message', role: 'alert' }, message),
  );
  document.body.replaceChildren(element('main', {}, form));
  field.focus();
  return new Promise((resolve) => {
    form.addEventListener('submit', (event) => {
      event.preventDefault();
      resolve(field.value);
    });
  });
}

void main();
