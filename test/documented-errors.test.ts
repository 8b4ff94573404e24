/** docs/errors.md names every error code in the sources once, and no other. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';

import { PROJECT, sourceFiles } from './support/source-files.js';

/** Words in capitals that are no codes of ours: names of the system, of variables, and words that are printed or written. */
const NO_CODES = [
  /^E[A-Z0-9]*$/, // errno; our own that begin with E have an underscore
  /^(ERR|SIG)[A-Z_]+$/,
  /^((MLLD|OTEL)_|PG(USER|SSL|PASSWORD))/, // variables of the environment
  /^(HOME|USER|PATH|DEBUG|NODE_ENV|LOCAL|TRACEPARENT)$/,
  /^(GET|POST)$/, // methods of HTTP
  /^(DOCUMENT|ITEM|ROOT)$/, // tags of @xml
  /^(TYPE(OF|INFO)|FILEEXISTS)$/, // built-in functions
  /^(ML\d{3}|UTF8)$/, // conditions that the schema of the store raises; an encoding
  /^NODE$/, // stands for the name of a node in a command that is shown
  /^(PLAIN|NULL)$/, // YAML's word for an unquoted scalar; a misspelt `null`
  /_$/, // what codes begin with
];

it('names every code', () => {
  const documented = [...readFileSync(join(PROJECT, 'docs', 'errors.md'), 'utf8').matchAll(/^\| `([A-Z_]+)`/gm)].map(([, code]) => code);
  // The renderers hold table headings and no codes.
  const sources = sourceFiles(['src', 'journal', 'replay', 'grammar', 'cli']).filter(({ path }) => !path.startsWith('cli/render/'));
  const words = sources.flatMap(({ code }) => [...code.matchAll(/'([A-Z][A-Z_0-9]{3,})'/g)].map(([, word]) => word as string));
  const used = new Set(words.filter((word) => !NO_CODES.some((pattern) => pattern.test(word))));
  expect(new Set(documented)).toEqual(used);
  expect(
    documented.filter((code, i) => documented.indexOf(code) !== i),
    'codes with two rows',
  ).toEqual([]);
});
