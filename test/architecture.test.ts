/**
 * The arrows of the program, held by reading import lines.
 *
 * ARROW-1 cli -> src -> replay -> journal and src -> grammar; an arrow allows what lies beyond it; nothing points back.
 *   Of src, cli and src/server see the face of the library; of journal and replay only types, which say what reports hold.
 * ARROW-2 Inside src only the files that put a run together know of replay.
 * ARROW-3 Every fact about the outside has one owner: processes, files, clock and environment are met in src/world, `process` in
 *    cli/main.ts.
 * ARROW-4 One place wraps each dependency.
 * ARROW-5 The rooms of src are layers: each imports only those before it.
 * ARROW-6 No more than two files import each other around, types included: what hangs together more than that can't be read one file at a
 *    time.
 */
import { readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { describe, expect, it } from 'vitest';

import { PROJECT, sourceFiles, type SourceFile } from './support/source-files.js';

type Layer = 'cli' | 'src' | 'replay' | 'journal' | 'grammar';

const MAY_IMPORT: { readonly [L in Layer]: readonly Layer[] } = {
  cli: ['src', 'replay', 'journal', 'grammar'],
  src: ['replay', 'journal', 'grammar'],
  replay: ['journal'],
  journal: [],
  grammar: [],
};

/** The parts outside the library, each with what it may import beside its own files; of `TYPES_ONLY` it may import types alone. */
const SEES: { readonly [part: string]: readonly string[] } = {
  'cli/': ['src/api/', 'src/errors.ts', 'journal/shell-words.ts', 'src/version.ts', 'grammar/'],
  'src/server/': ['src/api/', 'src/errors.ts', 'src/world/'],
};

/** Events, stores and reports are plain data, and named by those who print them: exporting their types a second time would be a detour. */
const TYPES_ONLY = ['journal/', 'replay/'];

/** The whole face loads everything that a program may use; a command loads its own files of it. */
const WHOLE_FACE = 'src/api/index.ts';

/** Imports past the face of the library, each with its reason. */
const PAST_THE_FACE: { readonly [edge: string]: string } = {
  'cli/bin.ts -> journal/storage/make-folders.ts': 'runs before the program is loaded, and keeps compiled code in a folder',
  'cli/main.ts -> src/world/stopwatch.ts': 'starts the clock before anything else is loaded',
  'cli/main.ts -> src/world/own-secrets.ts': 'takes them out of the process before a command begins',
  'cli/commands/serve.ts -> src/server/server.ts': 'the server is built on the library, and not part of it',
};

/** A run is put together here: prior runs are loaded, the ports are filled, the journal is opened. */
const KNOWS_REPLAY: { readonly [path: string]: string } = {
  'src/session/': 'the owner',
  'src/api/': 'the face of the library',
};

/** Reads outside src/world, each with its reason. */
const READS_THE_OUTSIDE: { readonly [path: string]: string } = {
  'src/session/project.ts': 'finds the project root before there is a run, hence before there is a world',
  'src/session/project-config.ts': 'reads the configuration that the world is made from',
  'src/session/workflow/workflow-files.ts': 'finds the script of a run before there is a run, hence before there is a world',
  'src/session/rerun/saved-test.ts': 'a saved test is files of a journal, which are read and written before there is a run',
};

const TOUCHES_PROCESS: { readonly [path: string]: string } = {
  'cli/main.ts': 'the owner',
  'cli/bin.ts': 'runs before the program is loaded, to answer --version and to load it through the code cache',
};

/** Names the one place that may import each package; a folder means all its files. */
const WRAPPED_BY: { readonly [dependency: string]: string } = {
  '@pydantic/genai-prices': 'src/calls/price/genai-prices.ts',
  '@viz-js/viz': 'src/pipeline/render/layout.ts',
  acorn: 'src/workflows/text/parse-javascript.ts',
  ajv: 'src/calls/schema/compile-schema.ts',
  'ajv-formats': 'src/calls/schema/compile-schema.ts',
  commander: 'cli/',
  diff: 'replay/reports/diff/text-diff.ts',
  'fast-json-stable-stringify': 'journal/canonical.ts',
  json5: 'src/values/formats/json5-text.ts',
  ndjson: 'cli/commands/',
  pg: 'journal/postgres/pg-client.ts',
  pino: 'cli/',
  'vscode-languageserver': 'cli/commands/editor/language-server-protocol.ts',
  'vscode-languageserver-protocol': 'cli/commands/editor/language-server-protocol.ts',
  'vscode-languageserver-textdocument': 'cli/commands/editor/language-server-protocol.ts',
  tar: 'journal/upkeep/archive.ts',
  tinyglobby: 'src/world/files/glob.ts',
  yaml: 'src/values/',
};

/** The rooms of src, each after those that it may import. Files directly in src (errors, index) belong to no room. */
const ROOMS = [
  'values',
  'world',
  'calls',
  'runtime',
  'operation',
  'language',
  'modules',
  'hooks',
  'guards',
  'validate',
  'pipeline',
  'workflows',
  'editor',
  'session',
  'api',
  'server',
] as const;

/** Imports against the order of the rooms, by the beginnings of both paths, each with its reason. */
const AGAINST_THE_ROOMS: { readonly [edge: string]: string } = {
  'src/language/evaluate.ts -> src/modules/': 'the table of evaluators names the functions of `import` and `export`',
};

/** The most files that may import each other around. */
const KNOT_FILES_MAX = 2;

/** Larger knots that are left, each by the folders that all its files are in. */
const KNOTS: { readonly [folders: string]: string } = {};

/** Rooms where a test reaches every file directly, and not only through the command line. */
const TESTED_ROOMS = ['src/runtime/', 'src/operation/', 'src/hooks/', 'src/guards/', 'src/pipeline/handlers/', 'src/session/upkeep/'];

const files = sourceFiles(Object.keys(MAY_IMPORT));

describe('the arrows between the layers', () => {
  it('has sources to look at', () => {
    for (const layer of Object.keys(MAY_IMPORT)) expect(files.filter(({ path }) => layerOf(path) === layer)).not.toEqual([]);
  });

  it.each(Object.entries(MAY_IMPORT))('%s imports only %j', (layer, allowed) => {
    const broken = files
      .filter(({ path }) => layerOf(path) === layer)
      .flatMap((file) =>
        ownImports(file)
          .filter((target) => layerOf(target) !== layer && !allowed.includes(layerOf(target) as Layer))
          .map(arrow(file)),
      );
    expect(broken).toEqual([]);
  });

  it('lets only the files that put a run together know of replay', () => {
    const broken = files
      .filter(({ path }) => path.startsWith('src/') && !Object.keys(KNOWS_REPLAY).some((place) => path.startsWith(place)))
      .flatMap((file) =>
        ownImports(file)
          .filter((target) => layerOf(target) === 'replay')
          .map(arrow(file)),
      );
    expect(broken).toEqual([]);
  });

  it('lets cli and the server see only the face of the library, and types of what it returns', () => {
    const past = Object.entries(SEES).flatMap(([part, allowed]) =>
      files
        .filter(({ path }) => path.startsWith(part))
        .flatMap((file) => {
          const withCode = ownImports(file, codeSpecifiersOf).map(sourceOf);
          return ownImports(file)
            .map(sourceOf)
            .filter((target) => !target.startsWith(part) && (target === WHOLE_FACE || !allowed.some((place) => target.startsWith(place))))
            .filter((target) => withCode.includes(target) || !TYPES_ONLY.some((place) => target.startsWith(place)))
            .map(arrow(file));
        }),
    );
    expectOnly(past, PAST_THE_FACE, (edge, exception) => edge === exception);
  });

  it('lets only the parse files of grammar import generated parsers', () => {
    const broken = files
      .filter(({ path }) => !/^grammar\/parse(-\w+)?\.ts$/.test(path))
      .flatMap((file) =>
        ownImports(file)
          .filter((target) => target.includes('/generated/'))
          .map(arrow(file)),
      );
    expect(broken).toEqual([]);
  });
});

describe('the rooms inside src', () => {
  it('names each room once', () => {
    const rooms = files.map(({ path }) => roomOf(path)).filter((room) => room !== undefined);
    expect(inOrder([...new Set(rooms)])).toEqual(inOrder(ROOMS));
  });

  it('imports only rooms before its own, but for the listed exceptions', () => {
    const against = files
      .filter(({ path }) => roomOf(path) !== undefined)
      .flatMap((file) =>
        ownImports(file)
          .map(sourceOf)
          .filter((target) => rankOf(target) > rankOf(file.path))
          .map(arrow(file)),
      );
    expectOnly(against, AGAINST_THE_ROOMS, (edge, exception) => {
      const [from = '', to = ''] = exception.split(' -> ');
      return edge.startsWith(from) && edge.includes(` -> ${to}`);
    });
  });
});

describe('files that import each other around', () => {
  it('finds a knot of three, and no knot in a chain', () => {
    const graph = new Map([
      ['a', ['b']],
      ['b', ['c', 'd']],
      ['c', ['a']],
      ['d', []],
    ]);
    expect(knotsIn(graph)).toEqual([['a', 'b', 'c']]);
  });

  it('are no more than two, but for the listed knots', () => {
    const known = new Set(files.map(({ path }) => path));
    const graph = new Map(
      files.map((file) => [
        file.path,
        ownImports(file)
          .map(sourceOf)
          .filter((target) => known.has(target)),
      ]),
    );
    const large = knotsIn(graph).filter((knot) => knot.length > KNOT_FILES_MAX);
    expectOnly(large, KNOTS, (knot, folders) => knot.every((path) => folders.split(' ').some((folder) => path.startsWith(folder))));
  });
});

describe('what workflow scripts and programs add below src', () => {
  const members = /^ *readonly (\w+\??): .*;$/gm;
  const membersIn = (text: string): readonly string[] => [...text.matchAll(members)].map(([, name = '']) => name);

  it('is optional members of two facts in the journal', () => {
    const event = textOf('journal/event.ts');
    const started = /readonly type: 'op\.started';[^}]*/.exec(event)?.[0] ?? '';
    expect(membersIn(started)).toContain('group?');
    const ofScripts =
      /\/\/ Workflow scripts only\.\n([^]*?)\n *\/\/ Pipeline runs only\./.exec(textOf('journal/facts/run-event.ts'))?.[1] ?? '';
    expect(membersIn(ofScripts)).toEqual(['clock?', 'seed?', 'budgetTokens?']);
    const others = files.filter(({ path, text }) => path.startsWith('journal/') && /workflow script|workflows-js|\bagents?\b/i.test(text));
    expect(others.map(({ path }) => path)).toEqual(['journal/event.ts', 'journal/facts/run-event.ts']);
  });

  it('is three folds in replay', () => {
    const folds = files
      .filter(({ path, text }) => path.startsWith('replay/workflows/') || (path.startsWith('replay/') && text.includes('workflows-js.md')))
      .flatMap(({ code }) => [...code.matchAll(/^(?:export )?const (\w+): Projection</gm)].map(([, name]) => name));
    expect(folds).toEqual(['agentCalls', 'callPhases', 'innerResults']);
  });
});

describe('the rooms whose parts have tests of their own', () => {
  const tests = sourceFiles(['test']);
  const imported = new Set(tests.flatMap((file) => ownImports(file)).map(sourceOf));
  const exportsCode = /^export (?:default )?(?:async )?(?:const|function|class)\b/m;

  it.each(TESTED_ROOMS)('%s: each file with code is imported by a test', (room) => {
    const untested = files.filter(({ path, code }) => path.startsWith(room) && exportsCode.test(code) && !imported.has(path));
    expect(untested.map(({ path }) => path)).toEqual([]);
  });
});

describe('who meets the outside', () => {
  it('keeps files, processes, clock, chance and environment of src in src/world', () => {
    const reads =
      /(?<!')\bprocess\.\w|\bDate\.now\(|\bnew Date\(\)|\bMath\.random\(|\bperformance\.now\(|['"]node:(fs|fs\/promises|child_process|process|os|net|http|https)['"]/;
    const inSrc = files.filter(({ path }) => path.startsWith('src/') && !path.startsWith('src/world/'));
    expect(inSrc.filter(({ code }) => reads.test(code)).map(({ path }) => path)).toEqual(inOrder(Object.keys(READS_THE_OUTSIDE)));
  });

  it('keeps the clock and the disk out of replay', () => {
    const reads =
      /\bDate\.now\(|\bnew Date\(\)|\bMath\.random\(|(?<!')\bprocess\.\w|['"]node:(fs|fs\/promises|child_process|process|os)['"]/;
    expect(files.filter(({ path, code }) => path.startsWith('replay/') && reads.test(code)).map(({ path }) => path)).toEqual([]);
  });

  it('lets only cli/main.ts touch process', () => {
    const touching = files.filter(({ path, code }) => path.startsWith('cli/') && /\bprocess\.\w|['"]node:process['"]/.test(code));
    expect(touching.map(({ path }) => path)).toEqual(inOrder(Object.keys(TOUCHES_PROCESS)));
  });
});

describe('dependencies', () => {
  type Manifest = Record<'dependencies' | 'devDependencies', Record<string, string>>;
  const { dependencies, devDependencies } = JSON.parse(readFileSync(join(PROJECT, 'package.json'), 'utf8')) as Manifest;

  it('names the wrapper of each, whether it is bundled or loaded', () => {
    const named = Object.keys(WRAPPED_BY);
    expect(Object.keys(dependencies).filter((name) => !named.includes(name))).toEqual([]);
    expect(named.filter((name) => !(name in dependencies) && !(name in devDependencies))).toEqual([]);
  });

  it.each(Object.entries(WRAPPED_BY))('imports %s only in %s', (dependency, place) => {
    const importers = files.filter((file) =>
      specifiersOf(file).some((specifier) => specifier === dependency || specifier.startsWith(`${dependency}/`)),
    );
    expect(importers.filter(({ path }) => !path.startsWith(place)).map(({ path }) => path)).toEqual([]);
    expect(importers, 'nobody imports it: take it out of package.json').not.toEqual([]);
  });

  it('imports no package that is not declared', () => {
    const undeclared = files.flatMap((file) =>
      specifiersOf(file)
        .filter((specifier) => !specifier.startsWith('.') && !specifier.startsWith('node:'))
        .filter((specifier) => !Object.keys(WRAPPED_BY).some((name) => specifier === name || specifier.startsWith(`${name}/`)))
        .map(arrow(file)),
    );
    expect(undeclared).toEqual([]);
  });
});

function textOf(path: string): string {
  return files.find((file) => file.path === path)?.text ?? '';
}

function layerOf(path: string): string {
  return path.slice(0, path.indexOf('/'));
}

/** Fails for what no exception covers, and for an exception that covers nothing. */
function expectOnly<T>(
  found: readonly T[],
  exceptions: { readonly [name: string]: string },
  covers: (one: T, name: string) => boolean,
): void {
  const names = Object.keys(exceptions);
  expect(found.filter((one) => !names.some((name) => covers(one, name)))).toEqual([]);
  expect(
    names.filter((name) => !found.some((one) => covers(one, name))),
    'exceptions that are not needed any more: delete them',
  ).toEqual([]);
}

/** `values` for a file of src/values; undefined directly below src, and elsewhere. */
function roomOf(path: string): string | undefined {
  return /^src\/([^/]+)\//.exec(path)?.[1];
}

/** The number of the file's room; -1 for a file of no room, which every room may import. */
function rankOf(path: string): number {
  const room = roomOf(path);
  return ROOMS.findIndex((name) => name === room);
}

/** The file of an import specifier. */
function sourceOf(target: string): string {
  return target.replace(/\.js$/, '.ts');
}

/** Strongly connected components of more than one file (Tarjan), each in the order of the alphabet, the largest first. */
function knotsIn(graph: ReadonlyMap<string, readonly string[]>): string[][] {
  const order = new Map<string, number>();
  const lowest = new Map<string, number>();
  const open: string[] = [];
  const knots: string[][] = [];
  const visit = (file: string): void => {
    const number = order.size;
    order.set(file, number);
    lowest.set(file, number);
    open.push(file);
    for (const target of graph.get(file) ?? []) {
      if (!order.has(target)) visit(target);
      if (open.includes(target)) lowest.set(file, Math.min(lowest.get(file) as number, lowest.get(target) as number));
    }
    if (lowest.get(file) !== number) return;
    const knot = open.splice(open.indexOf(file));
    if (knot.length > 1) knots.push(knot.sort());
  };
  for (const file of graph.keys()) if (!order.has(file)) visit(file);
  return knots.sort((left, right) => right.length - left.length || (left[0] as string).localeCompare(right[0] as string));
}

function arrow({ path }: SourceFile): (target: string) => string {
  return (target) => `${path} -> ${target}`;
}

/** Returns the files of the project that a file imports, as project paths. */
function ownImports(file: SourceFile, specifiers = specifiersOf): string[] {
  return specifiers(file)
    .filter((specifier) => specifier.startsWith('.'))
    .map((specifier) => posix.join(posix.dirname(file.path), specifier));
}

/** Static, dynamic and type-only imports and re-exports alike. */
function specifiersOf({ code }: SourceFile): string[] {
  const found = code.matchAll(
    /^(?:import|export\s+(?:type\s+)?[{*])[^;'"]*?\bfrom\s+'([^']+)'|^import\s+'([^']+)'|\bimport\('([^']+)'\)/gm,
  );
  return [...found].map(([, named, bare, dynamic]) => (named ?? bare ?? dynamic) as string);
}

/** Specifiers of imports that load code; `import type` loads none. */
function codeSpecifiersOf(file: SourceFile): string[] {
  return specifiersOf({ ...file, code: file.code.replace(/^(?:import|export) type\b/gm, '// $&') });
}

function inOrder(paths: readonly string[]): string[] {
  return [...paths].sort();
}
