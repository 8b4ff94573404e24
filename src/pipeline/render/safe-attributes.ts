/**
 * Selects the Graphviz attributes of a graph that may reach a picture. Graphviz copies many of them unchanged into the SVG (`fontname`,
 * `id`, `class`, `stylesheet`, `href`), reads files for others (`image`, `shapefile`), and lets a backslash before the closing quote open a
 * string.
 */

/** Matches words, numbers, colours and lists of them, which can't end a quote in the text for Graphviz or in the picture. */
const PLAIN = /^[\w #.,:;+!/%()-]{0,200}$/;
const FONT = /^[\w .,-]{1,100}$/;

const SHARED = 'color fillcolor fontcolor fontsize gradientangle labelloc nojustify penwidth peripheries style ';
const OF = {
  graph: words(
    SHARED +
      'bgcolor center clusterrank compound concentrate dpi forcelabels labeljust landscape margin mclimit newrank nodesep nslimit nslimit1 ' +
      'ordering outputorder pad pencolor quantum rank rankdir ranksep ratio remincross rotate searchsize size splines',
  ),
  node: words(SHARED + 'distortion fixedsize group height margin ordering orientation regular sides skew width'),
  edge: words(
    SHARED +
      'arrowhead arrowsize arrowtail constraint decorate dir headclip headport labelangle labeldistance labelfloat labelfontcolor ' +
      'labelfontsize lhead ltail minlen samehead sametail tailclip tailport',
  ),
};
const TEXTS = new Set(['xlabel', 'headlabel', 'taillabel', 'tooltip', 'edgetooltip', 'labeltooltip', 'headtooltip', 'tailtooltip']);
const FONTS = new Set(['fontname', 'labelfontname']);
const LINKS = new Set(['href', 'URL', 'edgehref', 'edgeURL', 'headhref', 'headURL', 'labelhref', 'labelURL', 'tailhref', 'tailURL']);

/**
 * Returns `plain` for an attribute that is passed on unchanged, `text` for one that is quoted as a label, undefined for one that is
 * dropped.
 */
export function drawingMode(of: keyof typeof OF, key: string, value: string): 'plain' | 'text' | undefined {
  if (TEXTS.has(key)) return 'text';
  if (LINKS.has(key)) return safeLink(value) === undefined ? undefined : 'plain';
  if (FONTS.has(key)) return FONT.test(value) ? 'plain' : undefined;
  return OF[of].has(key) && PLAIN.test(value) ? 'plain' : undefined;
}

/** Returns a link to a web page or a mail address; any other link could run code where the picture is shown. */
export function safeLink(text: string): string | undefined {
  return /^(?:https?:\/\/|mailto:)[^\s"'<>\\^`{|}\p{Cc}]{1,2000}$/iu.test(text) ? text : undefined;
}

/** Returns the text when it is safe inside quotes, otherwise the replacement. */
export function plainTextOr(text: string, otherwise: string): string {
  return PLAIN.test(text) ? text : otherwise;
}

function words(text: string): ReadonlySet<string> {
  return new Set(text.split(' '));
}
