/**
 * Shows the drawing of a run, which the server makes. Its nodes become buttons, and change colour with every event until the next drawing
 * arrives, because a layout takes time.
 */
import { captionOf, COLOURS, type NodeState } from '../../src/pipeline/render/node-state.js';
import { element } from '../shared/dom.js';

export interface Picture {
  readonly root: HTMLElement;
  show(svg: string): void;
  mark(node: string, state: NodeState): void;
  /** Says why there is no drawing, and keeps the last one if there was one. */
  refuse(reason: string): void;
}

export function picture(name: string, choose: (node: string) => void): Picture {
  const root = element('div', { class: 'picture', role: 'group', 'aria-label': `Graph of ${name}` });
  const drawn = new Map<string, SVGGElement>();
  let shown = '';
  return {
    root,
    show(svg) {
      if (svg === shown) return;
      shown = svg;
      const drawing = document.importNode(new DOMParser().parseFromString(svg, 'image/svg+xml').documentElement, true);
      // The links of a graph's author would lead away from this page.
      for (const link of drawing.querySelectorAll('a')) link.removeAttributeNS('http://www.w3.org/1999/xlink', 'href');
      const focused = root.contains(document.activeElement) ? document.activeElement?.getAttribute('data-node') : undefined;
      drawn.clear();
      for (const node of drawing.querySelectorAll<SVGGElement>('g.node')) {
        const id = node.querySelector('title')?.textContent ?? '';
        drawn.set(id, node);
        asButton(node, id, () => choose(id));
      }
      root.replaceChildren(drawing);
      if (focused) drawn.get(focused)?.focus();
    },
    refuse(reason) {
      if (drawn.size === 0) root.replaceChildren(element('p', { class: 'message' }, reason));
    },
    mark(id, state) {
      const node = drawn.get(id);
      if (!node) return;
      const texts = [...node.querySelectorAll('text')];
      const known = [...node.classList].find((word) => word.startsWith('state-'));
      const caption = captionOf(state);
      if (known === undefined) node.setAttribute('aria-label', [...texts.map(({ textContent }) => textContent), caption].join(', '));
      else {
        const last = texts.at(-1);
        if (last) last.textContent = caption;
        node.setAttribute('aria-label', nameOf(node));
      }
      node.querySelector('polygon, ellipse, path')?.setAttribute('fill', COLOURS[state.status]);
    },
  };
}

function asButton(node: SVGGElement, id: string, choose: () => void): void {
  node.setAttribute('data-node', id);
  node.setAttribute('role', 'button');
  node.setAttribute('tabindex', '0');
  node.setAttribute('aria-label', nameOf(node));
  node.addEventListener('click', choose);
  node.addEventListener('keydown', (event) => {
    if (event.key !== 'Enter' && event.key !== ' ') return;
    event.preventDefault();
    choose();
  });
}

/** Joins the lines of a node: its label and its state. */
function nameOf(node: SVGGElement): string {
  return [...node.querySelectorAll('text')].map(({ textContent }) => textContent).join(', ');
}
