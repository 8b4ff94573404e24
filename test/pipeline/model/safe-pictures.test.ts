/** Pictures of hostile graphs can't attack the people who look at them. */
import { describe, expect, it } from 'vitest';
import { cleanSvg } from '../../../src/pipeline/render/clean-svg.js';
import { renderGraph } from '../../../src/pipeline/render/render-graph.js';
import { layout } from '../../../src/pipeline/render/layout.js';

const SCRIPT = '"><script>alert(1)</script><x y="';
const BREAKS = [
  '"><script>alert(1)</script>',
  '\\"><script>alert(1)</script>',
  'x\\',
  'x\\" onload=\\"alert(1)',
  '&quot; onload=&quot;alert(1)',
  '<b>x</b>',
  '\u001b]0;pwned\u0007',
];
const NAMES = (
  'Damping K URL _background area arrowhead arrowsize arrowtail bb beautify bgcolor center charset class cluster clusterrank color colorscheme comment ' +
  'compound concentrate constraint decorate defaultdist dim dimen dir diredgeconstraints distortion dpi edgeURL edgehref edgetarget edgetooltip epsilon ' +
  'esep fillcolor fixedsize fontcolor fontname fontnames fontpath fontsize forcelabels gradientangle group headURL head_lp headclip headhref headlabel ' +
  'headport headtarget headtooltip height href id image imagepath imagepos imagescale inputscale label labelURL label_scheme labelangle labeldistance ' +
  'labelfloat labelfontcolor labelfontname labelfontsize labelhref labeljust labelloc labeltarget labeltooltip landscape layer layerlistsep layers ' +
  'layerselect layersep levels levelsgap lhead lheight linelength lp ltail lwidth margin maxiter mclimit mindist minlen mode model newrank nodesep ' +
  'nojustify normalize notranslate nslimit oneblock ordering orientation outputorder overlap pack packmode pad page pagedir pencolor penwidth ' +
  'peripheries pin pos quadtree quantum rank rankdir ranksep ratio rects regular remincross repulsiveforce resolution root rotate rotation samehead ' +
  'sametail samplepoints scale searchsize sep shape shapefile showboxes sides size skew smoothing sortv splines start style stylesheet tailURL tail_lp ' +
  'tailclip tailhref taillabel tailport tailtarget tailtooltip target tooltip truecolor vertices viewport voro_margin weight width xdotversion xlabel xlp z'
).split(' ');

const quoted = (text: string): string => `"${text.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`;

function graphWith(attributes: readonly (readonly [string, string])[]): string {
  const written = attributes.map(([key, value]) => `${key}=${quoted(value)}`).join(', ');
  return `digraph g {
    graph [${written}]
    start [shape=Mdiamond]
    subgraph cluster_one { label="One"
      a [${written}]
    }
    exit [shape=Msquare]
    start -> a [${written}]
    a -> exit
  }`;
}

/** Elements and attributes of an SVG that is well-formed, by name. */
function namesIn(svg: string): { elements: Set<string>; attributes: Map<string, string[]>; text: string } {
  const elements = new Set<string>();
  const attributes = new Map<string, string[]>();
  const open: string[] = [];
  let text = '';
  const token = /<\?xml[^>]*\?>|<(\/?)([\w:]+)((?: [\w:-]+="[^"<>]*")*)(\/?)>|([^<>]+)/gy;
  for (let at = 0; at < svg.length; at = token.lastIndex) {
    token.lastIndex = at;
    const found = token.exec(svg);
    if (!found) throw new Error(`not well-formed at ${svg.slice(at, at + 80)}`);
    const [, slash, name, written = '', empty, between] = found;
    if (between !== undefined) text += between;
    if (name === undefined) continue;
    if (slash) expect(open.pop()).toBe(name);
    else if (!empty) open.push(name);
    elements.add(name);
    for (const [, key = '', value = ''] of written.matchAll(/([\w:-]+)="([^"]*)"/g))
      attributes.set(key, [...(attributes.get(key) ?? []), value]);
  }
  expect(open).toEqual([]);
  return { elements, attributes, text };
}

const ELEMENTS = [
  'svg',
  'g',
  'title',
  'text',
  'a',
  'polygon',
  'polyline',
  'path',
  'ellipse',
  'defs',
  'linearGradient',
  'radialGradient',
  'stop',
];

function expectHarmless(svg: string): void {
  const { elements, attributes } = namesIn(svg);
  expect([...elements].filter((name) => !ELEMENTS.includes(name))).toEqual([]);
  expect([...attributes.keys()].filter((name) => /^on|^(?:href|src|target|style)$/i.test(name))).toEqual([]);
  for (const link of attributes.get('xlink:href') ?? []) expect(link).toMatch(/^(?:https?:\/\/|mailto:)/);
  for (const family of attributes.get('font-family') ?? []) expect(family).toMatch(/^[\w ,.-]+$/);
  expect(svg).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/);
}

const notDrawn = (error: unknown): string => {
  if ((error as { code?: string }).code === 'GRAPH_NOT_DRAWN') return '<svg></svg>'; // no picture at all
  throw error;
};
const drawn = async (text: string): Promise<string> => renderGraph({ file: 'g.dot', text }).catch(notDrawn);

describe('a picture of a graph', () => {
  it.each([
    ...BREAKS,
    SCRIPT,
    'javascript:alert(1)',
    'JAVASCRIPT:alert(1)',
    ' javascript:alert(1)',
    'data:text/html,<script>alert(1)</script>',
    '/etc/passwd',
    'url(javascript:alert(1))',
  ])('has no more than a picture when every attribute is %j', async (value) => {
    expectHarmless(await drawn(graphWith(NAMES.map((name) => [name, value] as const))));
  });

  it('contains only a picture when Graphviz copies attributes unchanged', async () => {
    const copied = ['href', 'tooltip', 'id', 'class', 'target', 'stylesheet', 'comment', 'color', 'style'];
    for (const value of [SCRIPT, 'javascript:alert(1)']) {
      const nodes = copied.map((name) => `${name} [href="https://x.org", ${name}=${quoted(value)}]`);
      expectHarmless(await layout(`digraph { ${nodes.join(';')} }`).catch(notDrawn));
    }
    expectHarmless(await layout(`digraph { a [fontname=${quoted(SCRIPT)}] }`).catch(notDrawn));
  });

  it('shows the markup in a label as it is written', async () => {
    const svg = await drawn(graphWith([['label', '<b>bold</b> & "quoted"']]));
    expectHarmless(svg);
    expect(namesIn(svg).text).toContain('&lt;b&gt;bold&lt;/b&gt; &amp; &quot;quoted&quot;');
  });

  it('keeps links to pages, fonts, colours and hints', async () => {
    const svg = await drawn(
      graphWith([
        ['href', 'https://example.org/?a=1&b=2'],
        ['fontname', 'Helvetica'],
        ['tooltip', 'what "it" does'],
        ['color', 'red'],
        ['style', 'filled'],
        ['fillcolor', 'red:blue'],
      ]),
    );
    const { attributes, elements } = namesIn(svg);
    expect(attributes.get('xlink:href')).toContain('https://example.org/?a=1&amp;b=2');
    expect(attributes.get('font-family')).toContain('Helvetica,sans-Serif');
    expect(attributes.get('xlink:title')).toContain('what &quot;it&quot; does');
    expect(attributes.get('stroke')).toContain('red');
    expect(elements).toContain('linearGradient');
  });
});

describe('an SVG of another origin', () => {
  const SVG = 'xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink"';
  it.each([
    ['<script>alert(1)</script>', ''],
    ['<g onload="alert(1)"/>', '<g/>'],
    ['<foreignObject><a xlink:href="https://x.org">x</a></foreignObject>', ''],
    ['<a xlink:href="javascript:alert(1)"><text>x</text></a>', '<a><text>x</text></a>'],
    ['<a xlink:href="java&#115;cript:alert(1)"/>', '<a/>'],
    ['<a xlink:href="&#x6a;avascript:alert(1)"/>', '<a/>'],
    ['<image xlink:href="https://x.org/pixel.png"/>', ''],
    ['<use xlink:href="#x"/><animate/><set/>', ''],
    ['<g style="background:url(https://x.org)" fill="url(https://x.org)"/>', '<g/>'],
    ['<g fill="url(#grad)"/>', '<g fill="url(#grad)"/>'],
    ['<text>&#27;[31m&lt;&bogus;\u001b\u009b</text>', '<text>[31m&lt;&amp;bogus;</text>'],
    ['<!-- <script> --><style>*{}</style>', ''],
  ])('is left with what a picture needs: %s', (inside, left) => {
    expect(cleanSvg(`<svg ${SVG}>${inside}</svg>`)).toContain(`<svg ${SVG}>${left}</svg>`);
  });

  it.each([
    '<svg',
    '<svg><g></svg>',
    '<svg a=b/>',
    '<svg a="<"/>',
    '<!DOCTYPE svg [<!ENTITY x "y">]><svg/>',
    '<svg><![CDATA[x]]></svg>',
    '<svg></svg></g>',
  ])('is no picture when it is not plain XML: %s', (svg) =>
    expect(() => cleanSvg(svg)).toThrow(expect.objectContaining({ code: 'GRAPH_NOT_DRAWN' })),
  );
});
