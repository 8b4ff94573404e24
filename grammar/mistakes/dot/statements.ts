/** Statements, node ids and attribute lists. */
import { describe, fail, isReserved, look, pastBlanks, type ErrorContext } from './error-context.js';

const ID_HINT = 'an id is made of letters, digits and `_`; put the text for people into its `label`';

/** Where neither a statement nor the end of the block stands. */
export function statement(spot: ErrorContext): false {
  const { at } = spot;
  if (at >= spot.text.length) fail('dot_syntax', at, 'The graph is not closed', 'a `}` is missing');
  if (look(/;/y, spot)) fail('dot_syntax', at, 'A `;` without a statement before it', 'one `;` ends a statement');
  if (look(/--/y, spot)) undirected(spot);
  if (look(/->/y, spot)) fail('dot_syntax', at, 'An edge without a node before `->`');
  if (look(/\+/y, spot)) fail('dot_string', at, 'Strings are not joined with `+`', 'write one string; it may run over several lines');
  if (look(/\{/y, spot)) fail('dot_edge_group', at, 'A block without `subgraph`', 'write `subgraph { … }`');
  if (look(/\[/y, spot)) fail('dot_attributes', at, 'An attribute list without a node, an edge or `graph`, `node`, `edge` before it');
  if (look(/:/y, spot)) port(spot);
  const written = look(/[A-Za-z_]\w*/y, spot)?.[0];
  if (written !== undefined) keyword(spot, written);
  const behind = pastBlanks({ ...spot, at: at + ofId(spot).length });
  if (look(/=/y, behind)) fail('dot_syntax', at, `${describe(spot)} is no key`, 'a key is made of letters, digits, `_` and dots');
  badId(spot);
  fail('dot_syntax', at, `Expected a statement, found ${describe(spot)}`);
}

function keyword(spot: ErrorContext, word: string): never {
  const behind = pastBlanks({ ...spot, at: spot.at + word.length });
  const isDefaults = /^(?:graph|node|edge)$/.test(word);
  if (look(/=/y, behind)) fail('dot_syntax', spot.at, `\`${word}\` is a keyword and no key of an attribute`);
  if (!isDefaults || look(/--|->|:/y, behind))
    fail('dot_node_id', spot.at, `\`${word}\` is a reserved word and can't be a node id`, ID_HINT);
  fail('dot_syntax', behind.at, `Expected \`[\` behind \`${word}\`, found ${describe(behind)}`, `write \`${word} [key=value]\``);
}

/** At an identifier that stands as a node id; true when it is one. */
export function nodeId(spot: ErrorContext, id: string): true {
  if (isReserved(id)) {
    const hint = `\`${id.toLowerCase()}\` is a keyword of the language in every letter case; ${ID_HINT}`;
    fail('dot_node_id', spot.at, `\`${id}\` is a reserved word and can't be a node id`, hint);
  }
  const whole = ofId(spot);
  if (whole.length > id.length) fail('dot_node_id', spot.at, `\`${whole}\` is no node id`, ID_HINT);
  const behind = pastBlanks({ ...spot, at: spot.at + id.length });
  if (look(/:/y, behind)) port(behind);
  if (look(/--/y, behind)) undirected(behind);
  return true;
}

/** Behind `->`. */
export function edgeEnd(spot: ErrorContext): false {
  const { at } = spot;
  if (look(/\{|subgraph(?!\w)/y, spot))
    fail('dot_edge_group', at, 'A group of nodes is no end of an edge', 'write one edge for each node in it');
  badId(spot);
  const word = look(/[A-Za-z_]\w*/y, spot)?.[0];
  if (word !== undefined) fail('dot_node_id', at, `\`${word}\` is a reserved word and can't be a node id`, ID_HINT);
  fail('dot_syntax', at, `Expected a node id behind \`->\`, found ${describe(spot)}`);
}

export function emptyAttributes({ at }: ErrorContext): false {
  fail('dot_attributes', at, 'The attribute list is empty', 'leave out `[]`');
}

/** Where an attribute should begin, or one has a key and no `=`. */
export function attribute(spot: ErrorContext): false {
  const { at } = spot;
  if (at >= spot.text.length) notClosed(spot);
  if (look(/\]/y, spot)) fail('dot_attributes', at, 'A comma before the end of the attribute list', 'leave it out');
  if (look(/,/y, spot)) fail('dot_attributes', at, 'A comma without an attribute before it', 'leave it out');
  if (look(/;/y, spot)) fail('dot_attributes', at, 'Attributes are parted by commas, not by `;`');
  const key = look(/"[^"\n]*"|[\p{L}\p{N}_.-]+/uy, spot)?.[0];
  if (key === undefined) fail('dot_syntax', at, `Expected an attribute, found ${describe(spot)}`, 'write `key=value`');
  const name = key.replace(/^"|"$/g, '');
  if (!/^[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*$/.test(name))
    fail('dot_syntax', at, `\`${name}\` is no key`, 'a key is made of letters, digits, `_` and dots');
  const behind = pastBlanks({ ...spot, at: at + key.length });
  if (look(/=/y, behind)) fail('dot_syntax', at, `\`${name}\` is a keyword and no key of an attribute`);
  fail('dot_value', at, `The key \`${name}\` has no value`, `write \`${name}=true\`, or the value that you mean`);
}

/** Behind a complete attribute. */
export function attributesEnd(spot: ErrorContext): false {
  const { at } = spot;
  if (at >= spot.text.length) notClosed(spot);
  if (look(/\]/y, spot)) {
    const second = pastBlanks({ ...spot, at: at + 1 });
    fail('dot_attributes', second.at, 'A second attribute list', 'put all attributes into one `[…]`, parted by commas');
  }
  if (look(/;/y, spot)) fail('dot_attributes', at, 'Attributes are parted by commas, not by `;`', 'write a comma');
  if (look(/\+/y, spot)) fail('dot_string', at, 'Strings are not joined with `+`', 'write one string; it may run over several lines');
  if (look(/[\w"]/y, spot))
    fail('dot_attributes', at, 'Attributes are parted by commas, not by blanks', `write a comma before ${describe(spot)}`);
  fail('dot_syntax', at, `Expected \`,\` or \`]\` behind an attribute, found ${describe(spot)}`);
}

function notClosed({ at }: ErrorContext): never {
  fail('dot_syntax', at, 'The attribute list is not closed', 'a `]` is missing');
}

function port({ at }: ErrorContext): never {
  fail('dot_port', at, 'Nodes of a pipeline have no ports', 'leave out the colon and what follows it');
}

function undirected({ at }: ErrorContext): never {
  fail('dot_undirected', at, 'Edges have a direction', 'write `->` instead of `--`');
}

/** Everything that belongs to an id as somebody may have meant it: `a-b`, `a.b`, `größe`; not the dashes of an edge. */
function ofId(spot: ErrorContext): string {
  return look(/"(?:[^"\\]|\\.)*"|(?:[\p{L}\p{N}_.]|-(?![->]))+/uy, spot)?.[0] ?? '';
}

function badId(spot: ErrorContext): void {
  const written = ofId(spot);
  if (written.startsWith('"')) fail('dot_node_id', spot.at, 'A node id is not quoted', ID_HINT);
  if (/^[-.]?\d/.test(written)) fail('dot_node_id', spot.at, `\`${written}\` is no node id: it begins with a digit`, ID_HINT);
  if (/^\P{ASCII}/u.test(written)) fail('dot_node_id', spot.at, `\`${written}\` is no node id`, ID_HINT);
}
