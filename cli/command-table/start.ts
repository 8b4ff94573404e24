/** The commands for the first steps. */
import type { Starter } from '../commands/start/write-starter.js';
import { JSON_FLAG, NO_PAGER_FLAG, type CommandRow } from './rows.js';

export const START_COMMANDS = {
  init: {
    does:
      'put a workflow that runs at once into a folder: with a stand-in for a model, or with claude, codex, gemini or opencode; ' +
      'asks nothing, and leaves files that are there as they are',
    short: 'put a workflow that runs at once into a folder',
    group: 'Begin:',
    arguments: [{ written: '[dir]', does: 'the folder of the project; without it, the working directory' }],
    flags: [
      {
        flags: ['template'],
        value: 'required',
        written: 'name',
        does: 'what the workflow does',
        choices: ['summary', 'review', 'triage', 'extract', 'pipeline'] satisfies readonly Starter[],
        default: 'summary',
      },
      {
        flags: ['from'],
        value: 'required',
        written: 'folder',
        does: 'write nothing: list the workflow scripts of a folder, with what validate finds in each and the command that runs it',
      },
      { flags: ['yes'], value: 'none', does: 'for scripts: take every default' },
      JSON_FLAG('print what was written, what was left and the next commands as JSON'),
    ],
    examples: ['mlld init', 'mlld init reviews --template review', 'mlld init --yes --json', 'mlld init --from .claude/workflows'],
  },
  docs: {
    does: 'print the guide and the documents; without a topic, list them; needs no network',
    short: 'print the guide and the documents, without a network',
    group: 'Begin:',
    arguments: [
      {
        written: '[topic...]',
        does: 'a page, as the list names it, the number of a page of the guide, or the code of an error',
        completes: 'topic',
      },
    ],
    flags: [
      { flags: ['search'], value: 'none', does: 'find the sections of all pages that have all these words' },
      NO_PAGER_FLAG,
      JSON_FLAG('print the list, the page or what was found as JSON'),
    ],
    examples: ['mlld docs', 'mlld docs first workflow', 'mlld docs 12', 'mlld docs --search retry budget', 'mlld docs PAUSED'],
    exits: [[1, 'there is no such topic, or nothing was found']],
  },
} as const satisfies { readonly [words: string]: CommandRow };
