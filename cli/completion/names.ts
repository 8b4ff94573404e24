/** The names of the project that a word can become: scripts, runs, checkpoints, functions, nodes and operations. */
import fs from 'node:fs';
import path from 'node:path';
import { checkpointTarget, namesInRun, recordedNames, scriptNames } from '../../src/api/known-names.js';
import { readPages } from '../commands/start/pages.js';
import type { Completion } from '../command-table/rows.js';
import type { Io } from '../terminal/io.js';
import type { Candidate, FindNames, Typed } from './candidates.js';

export function namesOf(io: Io): FindNames {
  return async (what, typed) => {
    if (typeof what === 'object') return files(io, typed.word, what.files);
    return (await FINDERS[what](io, typed)).map((name) => (typeof name === 'string' ? { text: name } : name));
  };
}

type Finder = (io: Io, typed: Typed) => Promise<readonly (string | Candidate)[]>;

const FINDERS: { readonly [C in Exclude<Completion, object>]: Finder } = {
  'script-or-pipeline': async (io, { word }) => [
    ...(await scriptNames(io.workingDirectory, io.environment['HOME'])),
    ...files(io, word, ['.dot']),
  ],
  recorded: async (io) => (await recordedNames(io)).workflows,
  'recorded-pipeline': async (io) => {
    const { workflows, runs } = await recordedNames(io);
    return ['latest', ...workflows.filter(isPipeline), ...runs.filter(({ about }) => isPipeline(about))];
  },
  run: async (io) => {
    const { workflows, runs } = await recordedNames(io);
    return [{ text: 'latest', about: 'the latest run of the project' }, ...workflows, ...runs];
  },
  'resume-target': async (io, { arguments: [script], word }) => {
    if (script === undefined) return [];
    const { functions, checkpoints, operations } = await namesInRun(io, script);
    if (word.startsWith('main/')) return nextSteps(operations, word);
    return [
      { text: 'failed', about: 'execute only the calls that failed or were rejected' },
      ...functions.map((fn) => ({ text: `@${fn}`, about: 'execute the calls of this function again' })),
      ...checkpoints.map((name) => ({ text: checkpointTarget(name), about: 'continue from this checkpoint' })),
    ];
  },
  'pipeline-node': async (io, { arguments: [file] }) => (file === undefined ? [] : (await namesInRun(io, file)).nodes),
  checkpoint: async (io, { arguments: [run] }) => {
    const { checkpoints, nodes } = await namesInRun(io, run ?? 'latest');
    return [...checkpoints, ...nodes];
  },
  topic: async () => readPages().map(({ topic, title }) => ({ text: topic, about: title })),
  operation: async (io, { arguments: [run], word }) => (run === undefined ? [] : nextSteps((await namesInRun(io, run)).operations, word)),
};

function isPipeline(workflow: string): boolean {
  return workflow.endsWith('.dot');
}

/** Paths are offered a step at a time, as the folders of a file name are. */
function nextSteps(operations: readonly string[], word: string): readonly string[] {
  const ends = operations
    .filter((op) => op.startsWith(word))
    .map((op) => {
      const slash = op.indexOf('/', word.length);
      return slash === -1 ? op : op.slice(0, slash);
    });
  return [...new Set(ends)];
}

/** Files with one of these endings, and folders on the way to one; the word may be the path of a folder and a beginning. */
function files(io: Io, word: string, endings: readonly string[]): readonly Candidate[] {
  const head = word.slice(0, word.lastIndexOf('/') + 1);
  try {
    return fs
      .readdirSync(path.resolve(io.workingDirectory, head), { withFileTypes: true })
      .filter(({ name }) => !name.startsWith('.'))
      .flatMap((entry) => {
        if (entry.isDirectory()) return [{ text: `${head}${entry.name}/` }];
        return endings.some((ending) => entry.name.endsWith(ending)) ? [{ text: head + entry.name }] : [];
      });
  } catch {
    return []; // not a folder, or not readable: no file in it can be named
  }
}
