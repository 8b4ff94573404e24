/**
 * Removes everything from an SVG file of Graphviz that a picture does not need. The text of a graph must not become a script, a style or a
 * request of the page that shows the picture, nor an escape sequence of a terminal.
 *
 * SVG-1 Elements and attributes that are not listed here are removed, elements with their content.
 * SVG-2 Links lead to http, https or mailto.
 * SVG-3 Text that is not the plain XML that Graphviz writes throws, and nothing of it is passed on.
 */
import { MlldError } from '../../errors.js';
import { safeLink } from './safe-attributes.js';

const ELEMENTS = new Set(
  ['svg', 'g', 'title', 'text', 'tspan', 'a', 'polygon', 'polyline', 'path', 'ellipse', 'circle', 'rect', 'line', 'defs'].concat([
    'linearGradient',
    'radialGradient',
    'stop',
  ]),
);

const NUMBERS = /^[-\d.,eE+% ptxinmc]*$/;
const SHAPES = /^[-\d.,eE+\sMmLlHhVvCcSsQqTtAaZz]*$/;
const PAINT = /^(?:[\w#., %-]*|rgba?\([\d.,% ]*\)|url\(#[\w-]+\))$/;
const WORDS = /^[\w .,-]*$/;

/** The allowed values of each attribute. */
const ATTRIBUTES: { readonly [name: string]: RegExp } = {
  ...each(['width', 'height', 'viewBox', 'x', 'y', 'x1', 'x2', 'y1', 'y2', 'cx', 'cy', 'fx', 'fy', 'r', 'rx', 'ry', 'offset'], NUMBERS),
  ...each(['font-size', 'stroke-width', 'stroke-dasharray', 'stroke-opacity', 'fill-opacity', 'stop-opacity', 'textLength'], NUMBERS),
  ...each(['points', 'd'], SHAPES),
  ...each(['fill', 'stroke', 'stop-color'], PAINT),
  ...each(['id', 'class', 'font-family', 'font-weight', 'font-style', 'text-anchor', 'text-decoration', 'baseline-shift'], WORDS),
  ...each(['gradientUnits', 'stroke-linecap', 'stroke-linejoin', 'xml:space'], WORDS),
  transform: /^(?:(?:scale|rotate|translate|matrix)\([-\d.,eE+ ]*\)\s*)*$/,
  // Graphviz writes the colours of a gradient this way.
  style: /^(?:stop-(?:color|opacity):(?:[\w#. %-]*|rgba?\([\d.,% ]*\));?\s*)*$/,
  xmlns: /^http:\/\/www\.w3\.org\/2000\/svg$/,
  'xmlns:xlink': /^http:\/\/www\.w3\.org\/1999\/xlink$/,
  'xlink:title': /^[^<>]*$/,
};

function each(names: readonly string[], values: RegExp): { readonly [name: string]: RegExp } {
  return Object.fromEntries(names.map((name) => [name, values]));
}

const TOKEN = /<!--[^]*?-->|<\?xml[^>]*\?>|<!DOCTYPE[^>[]*>|<\/([\w:.-]+)\s*>|<([\w:.-]+)((?:\s+[\w:.-]+="[^"<]*")*)\s*(\/?)>|([^<]+)/gy;

/** @throws MlldError GRAPH_NOT_DRAWN for anything but a picture of Graphviz (SVG-3) */
export function cleanSvg(svg: string): string {
  let clean = '<?xml version="1.0" encoding="UTF-8"?>\n';
  const open: { readonly name: string; readonly isKept: boolean }[] = [];
  const isKept = (): boolean => open.at(-1)?.isKept ?? true;
  let at = 0;
  while (at < svg.length) {
    TOKEN.lastIndex = at;
    const token = TOKEN.exec(svg);
    if (!token) throw notDrawn();
    at = TOKEN.lastIndex;
    const [, closed, opened, attributes = '', slash = '', text] = token;
    if (text !== undefined) {
      if (open.length > 0 && isKept()) clean += plainText(text);
    } else if (closed !== undefined) {
      const last = open.pop();
      if (last?.name !== closed) throw notDrawn();
      if (last.isKept) clean += `</${closed}>${open.length === 0 ? '\n' : ''}`;
    } else if (opened !== undefined) {
      const keeps = isKept() && ELEMENTS.has(opened) && (open.length > 0 || opened === 'svg');
      if (keeps) clean += `<${opened}${cleanAttributes(opened, attributes)}${slash}>`;
      if (slash === '') open.push({ name: opened, isKept: keeps });
    }
  }
  if (open.length > 0) throw notDrawn();
  return clean;
}

function cleanAttributes(element: string, written: string): string {
  let clean = '';
  const seen = new Set<string>();
  for (const [, name = '', value = ''] of written.matchAll(/([\w:.-]+)="([^"<]*)"/g)) {
    if (seen.has(name)) continue;
    const text = decoded(value);
    const isLink = name === 'xlink:href' && element === 'a';
    const isSafe = isLink ? safeLink(text) !== undefined : Object.hasOwn(ATTRIBUTES, name) && ATTRIBUTES[name]?.test(text);
    if (!isSafe) continue;
    seen.add(name);
    clean += ` ${name}="${encoded(text)}"`;
  }
  return clean;
}

function plainText(text: string): string {
  return encoded(decoded(text));
}

const NAMED: { readonly [name: string]: string } = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'", nbsp: '\u00a0' };

/** Drops characters that XML does not allow, and those that control a terminal. */
function decoded(text: string): string {
  return text
    .replace(/&(?:#(\d{1,7})|#[xX]([\da-fA-F]{1,6})|(\w{1,10}));/g, (whole, decimal?: string, hex?: string, name?: string) => {
      if (name !== undefined) return Object.hasOwn(NAMED, name) ? (NAMED[name] ?? '') : whole;
      const point = decimal === undefined ? Number.parseInt(hex ?? '', 16) : Number(decimal);
      return point <= 0x10ffff ? String.fromCodePoint(point) : '';
    })
    .replace(/[^\t\n\r\u0020-\u007e\u00a0-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu, '');
}

function encoded(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll('\u00a0', '&#160;');
}

function notDrawn(): MlldError {
  return new MlldError('GRAPH_NOT_DRAWN', "Graphviz can't draw this graph: its output is not a plain picture", {
    hint: 'check the attributes that only Graphviz reads',
  });
}
