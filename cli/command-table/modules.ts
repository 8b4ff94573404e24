/** The commands about published modules: `mlld modules …`. */
import { JSON_FLAG, type ArgumentRow, TOOLS_GROUP, type CommandRow } from './rows.js';

const NAMES: ArgumentRow = { written: '[names...]', does: 'modules of the lock, as @author/name' };

export const MODULES_COMMANDS = {
  modules: {
    does: 'add, list, verify and remove the published modules of a project; a run fetches nothing',
    short: 'add, list, verify and remove published modules',
    group: TOOLS_GROUP,
    examples: ['mlld modules add @mlld/claude-poll', 'mlld modules list', 'mlld modules verify'],
  },
  'modules add': {
    does: 'fetch or copy modules, with those that they import, and write them to mlld-lock.json; without a name, restore what is missing',
    arguments: [{ written: '[sources...]', does: '@author/name, @author/name@1.2.0, an https address, or a .mld, .mld.md or .md file' }],
    flags: [
      {
        flags: ['as'],
        value: 'required',
        written: 'name',
        does: 'the @author/name of the one address or file, instead of its frontmatter',
      },
      JSON_FLAG('print what was added as JSON'),
    ],
    examples: [
      'mlld modules add @mlld/claude-poll',
      'mlld modules add https://example.org/poll.mld.md --as @me/poll',
      'mlld modules add ../shared/retry.mld --as @me/retry',
      'mlld modules add',
    ],
    exits: [[1, 'something could not be fetched or read; nothing was changed then']],
  },
  'modules list': {
    does: 'list the modules of the lock: version, digest, source, and the scripts that name them',
    flags: [JSON_FLAG('print the list as JSON')],
    examples: ['mlld modules list', "mlld modules list --json | jq '.modules[].name'"],
  },
  'modules verify': {
    does: 'compare the files of all modules with the lock',
    flags: [JSON_FLAG('print the report as JSON')],
    examples: ['mlld modules verify', 'mlld modules verify --json'],
    exits: [[1, 'the file of a module is missing, changed, or a link']],
  },
  'modules remove': {
    does: 'take modules out of the lock, with those that only they import, and delete their files',
    arguments: [NAMES],
    flags: [
      { flags: ['unused'], value: 'none', does: 'also delete files that the lock does not name' },
      JSON_FLAG('print what was removed as JSON'),
    ],
    examples: ['mlld modules remove @mlld/claude-poll', 'mlld modules remove --unused'],
    exits: [[1, 'a name is not in the lock, or another module imports it; nothing was changed then']],
  },
  'modules outdated': {
    does: 'ask the registry, the address or the file of each module for another version; nothing is changed',
    flags: [JSON_FLAG('print the report as JSON')],
    examples: ['mlld modules outdated', 'mlld modules outdated --json | jq \'.[] | select(.state != "current")\''],
    exits: [[1, 'a module is outdated, or its source could not be asked']],
  },
} as const satisfies { readonly [words: string]: CommandRow };
