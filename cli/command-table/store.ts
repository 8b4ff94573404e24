/** The commands about the store of a team: `mlld store …`. */
import { JSON_FLAG, type CommandRow } from './rows.js';

export const STORE_COMMANDS = {
  store: {
    does: 'look at the store of a team, and make its tables; MLLD_STORE or "store" in mlld-config.json names it',
    examples: ['mlld store status', 'mlld store migrate'],
  },
  'store status': {
    does: 'say where the runs of this project are kept: server, version of the tables, size, runs',
    flags: [JSON_FLAG('print the report as JSON')],
    examples: ['mlld store status', 'mlld store status --json'],
    exits: [[1, 'the store could not be reached, or has no tables of this version']],
  },
  'store migrate': {
    does: 'make the tables of the store, or lift them to this version; once, as the owner of the database',
    flags: [
      { flags: ['dry-run'], value: 'none', does: 'say what would be done' },
      { flags: ['yes'], value: 'none', does: 'also as a superuser, who will own the tables' },
      JSON_FLAG('print the report as JSON'),
    ],
    examples: ['mlld store migrate --dry-run', 'mlld store migrate'],
    exits: [[1, 'nothing was changed']],
  },
} as const satisfies { readonly [words: string]: CommandRow };
