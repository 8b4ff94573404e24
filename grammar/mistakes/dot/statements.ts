/** Explains mistakes in statements, node ids and attribute lists. */
import { describe, fail, isReserved, look, pastBlanks, type ErrorContext } from './error-context.js';

const ID_HINT = 'an id is made of letters, digits and `_`; put the text for people into its `label`';

/** Called at a place where a statement or the end of the block is expected. */
export function statement(context: ErrorContext): false {
  const { at } = context;
  if (at >= context.text.length) fail('dot_syntax', at, 'The graph is not closed', 'a `}` is missing');
  if (look(/;/y, context)) fail('dot_syntax', at, 'A `;` without a statement before it', 'one `;` ends a statement');
  if (look(/--/y, context)) undirected(context);
  if (look(/->/y, context)) fail('dot_syntax', at, 'An edge without a node before `->`');
  if (look(/\+/y, context)) fail('dot_string', at, 'Strings are not joined with `+`', 'write one string; it may run over several lines');
  if (look(/\{/y, context)) fail('dot_edge_group', at, 'A block without `subgraph`', 'write `subgraph { … }`');
  if (look(/\[/y, context)) fail('dot_attributes', at, 'An attribute list without a node, an edge or `graph`, `node`, `edge` before it');
  if (look(/:/y, context)) port(context);
  const written = look(/[A-Za-z_]\w*/y, context)?.[0];
  if (written !== undefined) keyword(context, written);
  const behind = pastBlanks({ ...context, at: at + ofId(context).length });
  if (look(/=/y, behind)) fail('dot_syntax', at, `${describe(context)} is not a key`, 'a key is made of letters, digits, `_` and dots');
  badId(context);
  fail('dot_syntax', at, `Expected a statement, found ${describe(context)}`);
}

function keyword(context: ErrorContext, word: string): never {
  const behind = pastBlanks({ ...context, at: context.at + word.length });
  const isDefaults = /^(?:graph|node|edge)$/.test(word);
  if (look(/=/y, behind)) fail('dot_syntax', context.at, `\`${word}\` is a keyword and not a key of an attribute`);
  if (!isDefaults || look(/--|->|:/y, behind))
    fail('dot_node_id', context.at, `\`${word}\` is a reserved word and can't be a node id`, ID_HINT);
  fail('dot_syntax', behind.at, `Expected \`[\` after \`${word}\`, found ${describe(behind)}`, `write \`${word} [key=value]\``);
}

/** Called at an identifier in the place of a node id; returns true when it is one. */
export function nodeId(context: ErrorContext, id: string): true {
  if (isReserved(id)) {
    const hint = `\`${id.toLowerCase()}\` is a keyword of the language in every letter case; ${ID_HINT}`;
    fail('dot_node_id', context.at, `\`${id}\` is a reserved word and can't be a node id`, hint);
  }
  const whole = ofId(context);
  if (whole.length > id.length) fail('dot_node_id', context.at, `\`${whole}\` is not a node id`, ID_HINT);
  const behind = pastBlanks({ ...context, at: context.at + id.length });
  if (look(/:/y, behind)) port(behind);
  if (look(/--/y, behind)) undirected(behind);
  return true;
}

/** Called behind `->`. */
export function edgeEnd(context: ErrorContext): false {
  const { at } = context;
  if (look(/\{|subgraph(?!\w)/y, context))
    fail('dot_edge_group', at, 'A group of nodes is not an end of an edge', 'write one edge for each node in it');
  badId(context);
  const word = look(/[A-Za-z_]\w*/y, context)?.[0];
  if (word !== undefined) fail('dot_node_id', at, `\`${word}\` is a reserved word and can't be a node id`, ID_HINT);
  fail('dot_syntax', at, `Expected a node id after \`->\`, found ${describe(context)}`);
}

export function emptyAttributes({ at }: ErrorContext): false {
  fail('dot_attributes', at, 'The attribute list is empty', 'leave out `[]`');
}

/** Called where an attribute should begin, or where one has a key and no `=`. */
export function attribute(context: ErrorContext): false {
  const { at } = context;
  if (at >= context.text.length) notClosed(context);
  if (look(/\]/y, context)) fail('dot_attributes', at, 'A comma before the end of the attribute list', 'leave it out');
  if (look(/,/y, context)) fail('dot_attributes', at, 'A comma without an attribute before it', 'leave it out');
  if (look(/;/y, context)) fail('dot_attributes', at, 'Attributes are separated by commas, not by `;`');
  const key = look(/"[^"\n]*"|[\p{L}\p{N}_.-]+/uy, context)?.[0];
  if (key === undefined) fail('dot_syntax', at, `Expected an attribute, found ${describe(context)}`, 'write `key=value`');
  const name = key.replace(/^"|"$/g, '');
  if (!/^[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*$/.test(name))
    fail('dot_syntax', at, `\`${name}\` is not a key`, 'a key is made of letters, digits, `_` and dots');
  const behind = pastBlanks({ ...context, at: at + key.length });
  if (look(/=/y, behind)) fail('dot_syntax', at, `\`${name}\` is a keyword and not a key of an attribute`);
  fail('dot_value', at, `The key \`${name}\` has no value`, `write \`${name}=true\`, or the value that you mean`);
}

/** Called behind a complete attribute. */
export function attributesEnd(context: ErrorContext): false {
  const { at } = context;
  if (at >= context.text.length) notClosed(context);
  if (look(/\]/y, context)) {
    const second = pastBlanks({ ...context, at: at + 1 });
    fail('dot_attributes', second.at, 'A second attribute list', 'put all attributes into one `[…]`, separated by commas');
  }
  if (look(/;/y, context)) fail('dot_attributes', at, 'Attributes are separated by commas, not by `;`', 'write a comma');
  if (look(/\+/y, context)) fail('dot_string', at, 'Strings are not joined with `+`', 'write one string; it may run over several lines');
  if (look(/[\w"]/y, context))
    fail('dot_attributes', at, 'Attributes are separated by commas, not by spaces', `write a comma before ${describe(context)}`);
  fail('dot_syntax', at, `Expected \`,\` or \`]\` after an attribute, found ${describe(context)}`);
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

/** Returns all that may be meant as one id: `a-b`, `a.b`, `größe`; not the dashes of an edge. */
function ofId(context: ErrorContext): string {
  return look(/"(?:[^"\\]|\\.)*"|(?:[\p{L}\p{N}_.]|-(?![->]))+/uy, context)?.[0] ?? '';
}

function badId(context: ErrorContext): void {
  const written = ofId(context);
  if (written.startsWith('"')) fail('dot_node_id', context.at, 'A node id is not quoted', ID_HINT);
  if (/^[-.]?\d/.test(written)) fail('dot_node_id', context.at, `\`${written}\` is not a node id: it begins with a digit`, ID_HINT);
  if (/^\P{ASCII}/u.test(written)) fail('dot_node_id', context.at, `\`${written}\` is not a node id`, ID_HINT);
}
