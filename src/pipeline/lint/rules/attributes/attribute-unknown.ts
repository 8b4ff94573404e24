import { nodeAttribute, type Graph } from '../../../model/graph.js';
import { closest } from '../../../../values/suggest.js';
import { ATTRIBUTES } from '../../../model/attributes.js';
import type { LintRule, RegisteredNames } from '../../rule.js';
import { writtenAttributes, type WrittenAttribute } from '../../written-attributes.js';

/** The attributes of Graphviz: they have no meaning in a pipeline, and are written for the picture. */
const NAMES = `
_background area arrowhead arrowsize arrowtail bb beautify bgcolor center charset class cluster clusterrank color colorscheme comment compound
concentrate constraint Damping decorate defaultdist dim dimen dir diredgeconstraints distortion dpi edgehref edgetarget edgetooltip edgeURL epsilon
esep fillcolor fixedsize fontcolor fontname fontnames fontpath fontsize forcelabels gradientangle group head_lp headclip headhref headlabel
headport headtarget headtooltip headURL height href id image imagepath imagepos imagescale inputscale K label label_scheme labelangle
labeldistance labelfloat labelfontcolor labelfontname labelfontsize labelhref labeljust labelloc labeltarget labeltooltip labelURL landscape
layer layerlistsep layers layerselect layersep layout len levels levelsgap lhead lheight linelength lp ltail lwidth margin maxiter mclimit
mindist minlen mode model newrank nodesep nojustify normalize notranslate nslimit nslimit1 oneblock ordering orientation outputorder overlap
overlap_scaling overlap_shrink pack packmode pad page pagedir pencolor penwidth peripheries pin pos quadtree quantum radius rank rankdir ranksep
ratio rects regular remincross repulsiveforce resolution root rotate rotation samehead sametail samplepoints scale searchsize sep shape
shapefile showboxes sides size skew smoothing sortv splines start style stylesheet tail_lp tailclip tailhref taillabel tailport tailtarget
tailtooltip tailURL target TBbalance tooltip truecolor URL vertices viewport voro_margin weight width xdotversion xlabel xlp z`;

const GRAPHVIZ_ATTRIBUTES: ReadonlySet<string> = new Set(NAMES.trim().split(/\s+/));

const EDITS_MAX = 2;
type Of = WrittenAttribute['of'];

/** Reports keys that nothing reads: neither mlld nor Graphviz, no handler of the embedding program, and no other tool by its prefix. */
export const attributeUnknown: LintRule = {
  severity: 'warning',
  *check(graph, vocabulary) {
    for (const { of, key, attribute, owner, about } of writtenAttributes(graph)) {
      if (Object.hasOwn(ATTRIBUTES[of], key) || GRAPHVIZ_ATTRIBUTES.has(key)) continue;
      const near = nearIn(of, key);
      if (near === undefined && isForAnotherReader({ of, key, about }, graph, vocabulary)) continue;
      const effect =
        of === 'graph' ? `it is kept as \`graph.${key}\` in the context and has no other effect` : 'it is kept and has no effect';
      const message = `\`${key}\` of ${owner} is not an attribute that mlld knows: ${effect}`;
      yield { message, ...about, at: attribute.at, fix: near ?? `give an attribute for another program a prefix, like \`my.${key}\`` };
    }
  },
};

function nearIn(of: Of, key: string): string | undefined {
  const near = closest(key, Object.keys(ATTRIBUTES[of]), EDITS_MAX);
  if (near !== undefined) return `did you mean \`${near}\`?`;
  const others = (['graph', 'node', 'edge'] as const).filter((other) => other !== of);
  for (const other of others) {
    const there = closest(key, Object.keys(ATTRIBUTES[other]), EDITS_MAX);
    if (there !== undefined)
      return there === key ? `\`${key}\` is an attribute of ${PLURAL[other]}` : `did you mean \`${there}\` of ${PLURAL[other]}?`;
  }
  const family = /^[a-z]+_/.exec(key)?.[0];
  const kin = family === undefined ? [] : [of, ...others].flatMap((kind) => kinOf(kind, family));
  return kin.length === 0 ? undefined : `did you mean ${kin.join(', ')}?`;
}

const PLURAL: { readonly [K in Of]: string } = { graph: 'the graph', node: 'nodes', edge: 'edges' };

function kinOf(of: Of, family: string): readonly string[] {
  return Object.keys(ATTRIBUTES[of]).flatMap((known) => (known.startsWith(family) ? [`\`${known}\` of ${PLURAL[of]}`] : []));
}

function isForAnotherReader(
  { of, key, about }: Pick<WrittenAttribute, 'of' | 'key' | 'about'>,
  graph: Graph,
  { handlers }: RegisteredNames,
): boolean {
  if (key.includes('.')) return true;
  if (of === 'graph') return graph.text.includes(`graph.${key}`); // a condition reads it from the context
  const node = about.node === undefined ? undefined : graph.nodes.get(about.node);
  return node !== undefined && handlers?.has(nodeAttribute(node, 'type') ?? '') === true;
}
