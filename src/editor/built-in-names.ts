/** Describes the names that no script declares, for hover and completion. values.md 11.3, 12 and 13. */
import type { reservedNames, transformerNames } from '../../grammar/keywords.js';

type Reserved = (typeof reservedNames)[number];
type Transformer = (typeof transformerNames)[number];

export const RESERVED: { readonly [name in Reserved | 'payload' | 'state']: string } = {
  now: 'the time as ISO text in UTC',
  root: 'the folder of the project',
  base: 'the folder of the project',
  input: 'standard input; a JSON object or array is parsed',
  debug: 'a description of the environment for reading',
  keychain: 'secrets',
  mx: 'the context of the running operation',
  payload: 'the --name value flags of the command line',
  state: 'state that an embedding program gives',
};

export const TRANSFORMERS: { readonly [name in Transformer | 'fileExists' | 'keep']: string } = {
  upper: 'text in capitals',
  lower: 'text in small letters',
  trim: 'text without blanks around it',
  parse: 'the value of a JSON5 text; .strict, .loose, .llm and .fromlist read other forms',
  json: 'like @parse, with an indented text view',
  xml: 'XML text',
  csv: 'CSV text of an array of objects',
  md: 'tidied Markdown',
  pretty: 'JSON with two blanks of indentation',
  sort: 'an array sorted by text, an object with its keys sorted, a text with its lines sorted',
  typeof: 'string, number, boolean, null, array, object or executable',
  exists: 'true when the name, field, index or file is there',
  fileExists: 'true when the file at that path exists',
  keep: 'marks a loaded value so that code blocks get its raw text and metadata',
};

const ALL: ReadonlyMap<string, string> = new Map(Object.entries({ ...RESERVED, ...TRANSFORMERS }));

export function describeBuiltIn(name: string): string | undefined {
  return ALL.get(name);
}
