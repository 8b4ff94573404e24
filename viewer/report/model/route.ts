/** Reads and writes the part of an address that says what the page shows, so that a link to a call can be sent. */
import type { SpanState } from './page-model.js';

export const VIEWS = ['overview', 'graph', 'operations', 'script', 'output', 'compare', 'events'] as const;
export type View = (typeof VIEWS)[number];

export interface Filter {
  /** Empty: all. */
  readonly fn: string;
  readonly state: SpanState | '';
  readonly text: string;
}

export interface Route {
  readonly view: View;
  /** The path of the chosen operation. */
  readonly op: string | undefined;
  /** The chosen node of a pipeline; empty: none. */
  readonly node: string;
  readonly filter: Filter;
}

export const NO_FILTER: Filter = { fn: '', state: '', text: '' };

export function isFiltering({ fn, state, text }: Filter): boolean {
  return fn !== '' || state !== '' || text.trim() !== '';
}

/** Returns the first page for an address that names nothing. */
export function parseRoute(hash: string): Route {
  const members = new Map(
    hash
      .replace(/^#/, '')
      .split('&')
      .map((member) => {
        const [name = '', ...value] = member.split('=');
        return [name, decoded(value.join('='))];
      }),
  );
  const filter = { fn: members.get('fn') ?? '', state: (members.get('state') ?? '') as Filter['state'], text: members.get('text') ?? '' };
  const op = members.get('call');
  const node = members.get('node') ?? '';
  if (op !== undefined) return { view: 'operations', op, node, filter };
  return { view: VIEWS.find((view) => members.has(view)) ?? 'overview', op: undefined, node, filter };
}

export function hashOf({
  view,
  op,
  filter = NO_FILTER,
}: {
  readonly view: View;
  readonly op?: string | undefined;
  readonly filter?: Filter;
}): string {
  const head = op === undefined ? view : `call=${encoded(op)}`;
  const members = Object.entries(filter).filter(([, value]) => value !== '');
  return `#${[head, ...members.map(([name, value]) => `${name}=${encoded(String(value))}`)].join('&')}`;
}

export function hashOfNode(node: string): string {
  return node === '' ? '#graph' : `#graph&node=${encoded(node)}`;
}

export function hashOfCall(op: string): string {
  return hashOf({ view: 'operations', op });
}

/** Slashes and brackets of paths stay readable. */
function encoded(text: string): string {
  return encodeURIComponent(text.replace(/\p{Cs}/gu, '\uFFFD')).replace(/%(?:2F|5B|5D|3A)/g, decodeURIComponent);
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text; // typed by hand
  }
}
