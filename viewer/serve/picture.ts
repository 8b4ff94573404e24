/** The drawing of a run. It comes from the server whole; here its nodes become buttons. */
import { element } from '../dom.js';

export interface Picture {
  readonly root: HTMLElement;
  show(svg: string): void;
}

export function picture(name: string, choose: (node: string) => void): Picture {
  const root = element('div', { class: 'picture', role: 'group', 'aria-label': `Graph of ${name}` });
  let shown = '';
  return {
    root,
    show(svg) {
      if (svg === shown) return;
      shown = svg;
      const drawing = document.importNode(new DOMParser().parseFromString(svg, 'image/svg+xml').documentElement, true);
      // What the author of a graph links to would lead away from here.
      for (const link of drawing.querySelectorAll('a')) link.removeAttributeNS('http://www.w3.org/1999/xlink', 'href');
      const focused = root.contains(document.activeElement) ? document.activeElement?.getAttribute('data-node') : undefined;
      for (const node of drawing.querySelectorAll<SVGGElement>('g.node')) asButton(node, choose);
      root.replaceChildren(drawing);
      if (focused) root.querySelector<SVGGElement>(`[data-node="${CSS.escape(focused)}"]`)?.focus();
    },
  };
}

function asButton(node: SVGGElement, choose: (node: string) => void): void {
  const id = node.querySelector('title')?.textContent ?? '';
  const words = [...node.querySelectorAll('text')].map((text) => text.textContent);
  node.setAttribute('data-node', id);
  node.setAttribute('role', 'button');
  node.setAttribute('tabindex', '0');
  node.setAttribute('aria-label', words.join(', '));
  node.addEventListener('click', () => choose(id));
  node.addEventListener('keydown', (event) => {
    if (event.key !== 'Enter' && event.key !== ' ') return;
    event.preventDefault();
    choose(id);
  });
}
