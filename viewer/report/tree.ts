/** Shows nested operations as a tree for the keyboard. Children are made when their parent is opened, a portion at a time. */
import { duration } from '../../cli/render/units.js';
import { element } from '../shared/dom.js';
import type { Model } from './model.js';

const PORTION = 200;
const RUN = -1;

export interface TreeView {
  readonly root: HTMLElement;
  /** Opens the operations around a span, and focuses it. */
  reveal(span: number): void;
}

interface Branch {
  readonly group: HTMLElement;
  shown: number;
}

export function treeView(model: Model, onChoose: (span: number) => void): TreeView {
  const { spans } = model.data;
  const items = new Map<number, HTMLElement>();
  const branches = new Map<number, Branch>();
  const root = element('ul', { role: 'tree', 'aria-label': 'Operations', class: 'tree' });
  let current: HTMLElement | undefined;

  branches.set(RUN, { group: root, shown: 0 });
  fill(RUN);
  setCurrent(items.get(model.childrenOf(RUN)[0] ?? RUN));

  function fill(parent: number, upTo = 0): void {
    const branch = branches.get(parent);
    if (branch === undefined) return;
    const children = model.childrenOf(parent);
    const end = Math.min(children.length, Math.max(branch.shown + PORTION, upTo));
    branch.group.querySelector(':scope > .more')?.remove();
    for (const child of children.slice(branch.shown, end)) branch.group.append(itemFor(child));
    branch.shown = end;
    if (end === children.length) return;
    const more = element('button', { type: 'button' }, `${children.length - end} more`);
    more.addEventListener('click', () => fill(parent));
    branch.group.append(element('li', { class: 'more', role: 'none' }, more));
  }

  function itemFor(span: number): HTMLElement {
    const isBranch = model.childrenOf(span).length > 0;
    const state = model.stateOf(span);
    const took = duration((spans.end[span] as number) - (spans.start[span] as number));
    const label = element(
      'span',
      { class: 'label' },
      element('span', { class: `state ${state}`, title: state }),
      element('b', {}, spans.name[span] ?? ''),
      ` ${spans.about[span] ?? ''} `,
      element('small', {}, `${state === 'done' ? '' : `${state}, `}${took}`),
    );
    const item = element(
      'li',
      { role: 'treeitem', tabindex: '-1', 'data-span': String(span), 'aria-label': `${model.title(span)}, ${state}, ${took}` },
      label,
    );
    if (isBranch) item.setAttribute('aria-expanded', 'false');
    items.set(span, item);
    return item;
  }

  const spanOf = (item: Element): number => Number(item.getAttribute('data-span'));

  function expand(item: HTMLElement): void {
    if (item.getAttribute('aria-expanded') !== 'false') return;
    item.setAttribute('aria-expanded', 'true');
    const span = spanOf(item);
    if (branches.has(span)) return;
    const group = element('ul', { role: 'group' });
    item.append(group);
    branches.set(span, { group, shown: 0 });
    fill(span);
  }

  function collapse(item: HTMLElement): void {
    if (item.getAttribute('aria-expanded') === 'true') item.setAttribute('aria-expanded', 'false');
  }

  function setCurrent(item: HTMLElement | undefined): void {
    if (item === undefined) return;
    current?.setAttribute('tabindex', '-1');
    current = item;
    item.setAttribute('tabindex', '0');
  }

  function focus(item: HTMLElement | undefined): void {
    setCurrent(item);
    item?.focus({ preventScroll: true });
    item?.scrollIntoView({ block: 'nearest' });
  }

  /** Returns the visible item before or after this one. */
  function neighbour(item: HTMLElement, step: 1 | -1): HTMLElement | undefined {
    const seen = [...root.querySelectorAll<HTMLElement>('[role=treeitem]')].filter(
      (each) => !each.parentElement?.closest('[aria-expanded=false]'),
    );
    return seen[seen.indexOf(item) + step];
  }

  const outer = (item: HTMLElement): HTMLElement | undefined => item.parentElement?.closest<HTMLElement>('[role=treeitem]') ?? undefined;

  const keys: { readonly [key: string]: (item: HTMLElement) => void } = {
    ArrowDown: (item) => focus(neighbour(item, 1)),
    ArrowUp: (item) => focus(neighbour(item, -1)),
    ArrowRight: (item) => (item.getAttribute('aria-expanded') === 'true' ? focus(neighbour(item, 1)) : expand(item)),
    ArrowLeft: (item) => (item.getAttribute('aria-expanded') === 'true' ? collapse(item) : focus(outer(item))),
    Enter: (item) => onChoose(spanOf(item)),
    ' ': (item) => onChoose(spanOf(item)),
    Home: () => focus(root.querySelector<HTMLElement>('[role=treeitem]') ?? undefined),
  };
  root.addEventListener('keydown', (event) => {
    const item = (event.target as Element).closest<HTMLElement>('[role=treeitem]');
    const act = keys[event.key];
    if (item === null || !act || event.ctrlKey || event.metaKey || event.altKey || event.target instanceof HTMLButtonElement) return;
    event.preventDefault();
    act(item);
  });
  root.addEventListener('click', (event) => {
    const item = (event.target as Element).closest('.label')?.closest<HTMLElement>('[role=treeitem]');
    if (!item) return;
    if (item.getAttribute('aria-expanded') === 'true') collapse(item);
    else expand(item);
    setCurrent(item);
    onChoose(spanOf(item));
  });

  return {
    root,
    reveal(span) {
      const around: number[] = [];
      for (let parent = spans.parent[span] ?? RUN; parent !== RUN; parent = spans.parent[parent] ?? RUN) around.unshift(parent);
      let parent = RUN;
      for (const each of [...around, span]) {
        if (!items.has(each)) fill(parent, model.childrenOf(parent).indexOf(each) + 1);
        const item = items.get(each);
        if (each !== span && item) expand(item);
        parent = each;
      }
      root.querySelector('[aria-selected]')?.removeAttribute('aria-selected');
      items.get(span)?.setAttribute('aria-selected', 'true');
      focus(items.get(span));
    },
  };
}
