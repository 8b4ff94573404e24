/** Makes elements in one call. Only here is data of a run put onto the page, and always as text. */

type Child = Node | string | number;

export function element<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: { readonly [name: string]: string } = {},
  ...children: readonly Child[]
): HTMLElementTagNameMap[K] {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children.map((child) => (typeof child === 'number' ? String(child) : child)));
  return made;
}

export function table(titles: readonly string[], rows: readonly (readonly Child[])[]): HTMLElement {
  const head = element('tr', {}, ...titles.map((title) => element('th', { scope: 'col' }, title)));
  const body = rows.map((cells) =>
    element('tr', {}, ...cells.map((cell) => element('td', typeof cell === 'number' ? { class: 'number' } : {}, shown(cell)))),
  );
  return element('div', { class: 'scroll' }, element('table', {}, element('thead', {}, head), element('tbody', {}, ...body)));
}

function shown(cell: Child): Child {
  return typeof cell === 'number' ? cell.toLocaleString('en') : cell;
}

export function section(title: string, ...children: readonly Child[]): HTMLElement {
  return element('section', { 'aria-label': title }, element('h2', {}, title), ...children);
}
