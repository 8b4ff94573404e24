/**
 * Executes each command of README, of the documents and of the help that is shown without its output, as it is written there, in a copy of
 * a project that has what they name. Commands with their outputs have tests of their own: `documents.test.ts` and `guide.test.ts`.
 */
import { cpSync, mkdirSync, mkdtempSync, realpathSync, writeFileSync } from 'node:fs';
import { execFile } from 'node:child_process';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';

import { PROJECT } from '../support/source-files.js';
import { commandsIn, documentedCommands, mentionedCommands, unknownIn } from './documented.js';
import { serve, type PageServer } from './server.js';

interface Ended {
  readonly status: number;
  readonly printed: string;
}

const NO_STORE = { status: 1, printed: /MLLD_STORE/ };
const NO_RUN = { status: 1, printed: /^Error: / };
const LISTENS = { status: 124, printed: /http:\/\/127\.0\.0\.1:\d+/ };

/** Holds the endings of commands that can't succeed in this project, or are shown because they fail. Every other one ends with status 0. */
const NO_WORKERS = { status: 1, printed: /kept in files, where nothing is offered/ };

const OTHERWISE: Readonly<Record<string, { readonly status: number; readonly printed: RegExp }>> = {
  'mlld serve': LISTENS,
  'mlld serve --port 0 --json': LISTENS,
  'mlld serve --resume-runs': LISTENS,
  'mlld store migrate': NO_STORE,
  'mlld store migrate --dry-run': NO_STORE,
  'mlld store copy --from .': NO_STORE,
  'mlld store copy --to /mnt/archive/patrol': NO_STORE,
  'mlld store push': NO_STORE,
  'mlld store rebuild': NO_STORE,
  'mlld store rebuild --dry-run': NO_STORE,
  'mlld store seal latest': { status: 1, printed: /a run in files needs no seal/ },
  'mlld worker --lanes 8': NO_WORKERS,
  'mlld worker --lane claude=4 --lane gpu=1': NO_WORKERS,
  'mlld worker --lanes 8 --once': NO_WORKERS,
  'mlld worker --lane claude=4 --once': NO_WORKERS,
  'mlld run patrol --checkpoint --workers': { status: 1, printed: /kept in files, where no worker finds them/ },
  'mlld run patrol --checkpoint --workers --lanes 4': { status: 1, printed: /kept in files, where no worker finds them/ },
  'mlld worker status': NO_WORKERS,
  'mlld worker status --json': NO_WORKERS,
  'mlld store budget': NO_STORE,
  'mlld store budget nightly': NO_STORE,
  'mlld store budget nightly 50usd --per day': NO_STORE,
  'mlld run patrol --checkpoint --budget nightly': { status: 1, printed: /kept in files/ },
  "MLLD_STORE='postgres://127.0.0.1:5433/mlld?project=trial' mlld store migrate --yes": { status: 1, printed: /127\.0\.0\.1:5433/ },
  'MLLD_SERVE_TOKEN=$(openssl rand -hex 32) mlld serve --host 0.0.0.0': LISTENS,
  'mlld serve --host 0.0.0.0 --token-file ~/.mlld/serve-tokens': LISTENS,
  "MLLD_STORE='postgres://board@db.example/mlld?project=acme/patrol' mlld serve --host 0.0.0.0 --token-file tokens": LISTENS,
  'mlld journal show ID': NO_RUN,
  'mlld run .mlld/serve/7weuaudm00t8/ferry.dot --resume --ask remote': NO_RUN,
  'mlld answer 20260412-081502-221-5c1e "Keep shut" --question q2': NO_RUN,
};

const TOKEN = 'read 5f0c1f6f8f0e4b0b9a4f2d6c7e8a9b0c';

const ASKED =
  'cp gated.dot release.dot; mlld run release.dot --backend simulated --ask remote > run.log 2>&1 & ' +
  'for n in $(seq 100); do mlld journal list --json | grep -q answerable && break; sleep 0.1; done';

/** Holds, by command, another one that a reader has executed before it. */
const BEFORE: Readonly<Record<string, string>> = {
  'cd elsewhere && mlld journal unbundle run.tgz': 'mkdir elsewhere && cp run.tgz elsewhere',
  'mlld answer latest O': ASKED,
  'mlld answer release O': ASKED,
  'mlld graph render release.dot --run latest -o release.svg': 'mlld run release.dot',
  "mlld journal reject nightly 'main/for#0[3]/review#0' --undo": "mlld journal reject nightly 'main/for#0[3]/review#0' --reason x",
  'mlld journal replay nightly --save-test test/runs/nightly': 'rm -r test/runs/nightly',
  'mlld serve --host 0.0.0.0 --token-file ~/.mlld/serve-tokens': `mkdir -p ~/.mlld && echo '${TOKEN}' > ~/.mlld/serve-tokens && chmod 600 ~/.mlld/serve-tokens`,
  "MLLD_STORE='postgres://board@db.example/mlld?project=acme/patrol' mlld serve --host 0.0.0.0 --token-file tokens": `echo '${TOKEN}' > tokens && chmod 600 tokens`,
  'mlld modules remove @mlld/claude-poll': 'mlld modules add @mlld/claude-poll',
};

const COMMANDS = [...documentedCommands()];
let home = '';
let server: PageServer | undefined;

beforeAll(async () => {
  home = realpathSync(mkdtempSync(path.join(os.tmpdir(), 'mlld-documented-')));
  const root = path.join(home, 'harbour');
  server = await serve({ replies: [{ path: '/modules.json', body: REGISTRY }, { body: POLL }] }, home);
  cpSync(path.join(PROJECT, 'test/guide/documented-project'), root, { recursive: true });
  mkdirSync(path.join(root, '.claude/workflows'), { recursive: true });
  for (const name of ['audit', 'berth-audit']) writeFileSync(path.join(root, `.claude/workflows/${name}.js`), workflow(name));
  writeFileSync(path.join(root, 'mlld-config.json'), JSON.stringify({ modules: { registry: `${server.url}/modules.json` } }));
  mkdirSync(path.join(home, 'shared'));
  writeFileSync(path.join(home, 'shared/retry.mld'), 'var @times = 3\nexport { @times }\n');
  mkdirSync(path.join(home, 'bin'));
  const mlld = `#!/bin/sh\nexec '${process.execPath}' '${path.join(PROJECT, 'dist/mlld.cjs')}' "$@"\n`;
  writeFileSync(path.join(home, 'bin/mlld'), mlld, { mode: 0o755 });
  for (const other of ['jq', 'fish']) writeFileSync(path.join(home, 'bin', other), '#!/bin/sh\nexec cat\n', { mode: 0o755 });
  for (const command of PREPARED) {
    const { status, printed } = await inShell(command, root);
    if (status !== 0 && !command.includes('tides')) throw new Error(`${command} ended with ${status}: ${printed}`);
  }
});

afterAll(() => server?.close());

const PREPARED = [
  'mlld run patrol',
  'mlld run patrol --checkpoint',
  'mlld run draft-a',
  'mlld run draft-b --fork draft-a',
  'mlld run tides --retries 0',
  'mlld run tides --resume --retries 0',
  'mlld run release.dot --yes --backend simulated',
  'mlld run nightly',
  'mlld run nightly --checkpoint',
  'mlld journal replay nightly --save-test test/runs/nightly',
  'mlld journal bundle nightly -o run.tgz',
];

const REGISTRY = { modules: { '@mlld/claude-poll': { version: '1.2.0', source: { url: 'claude-poll.mld.md' } } } };
const POLL = '---\nname: claude-poll\nauthor: mlld\nversion: 1.2.0\n---\n\n```mlld-run\nvar @every = 5\nexport { @every }\n```\n';

function workflow(name: string): string {
  return [
    `export const meta = { name: '${name}', description: 'Asks how bad berths are' };`,
    'const { berths } = args;',
    "return await parallel(berths.map((berth) => () => agent('How bad is berth ' + berth + '?')));",
    '',
  ].join('\n');
}

function inShell(command: string, cwd: string): Promise<Ended> {
  const env = {
    HOME: home,
    PATH: [path.join(home, 'bin'), path.join(PROJECT, 'test/conformance/stubs'), '/usr/bin', '/bin'].join(path.delimiter),
    XDG_CACHE_HOME: path.join(process.env['MLLD_TEST_SCRATCH'] ?? os.tmpdir(), 'mlld-test-cache'),
    STUB_LEDGER: path.join(home, 'ledger'),
  };
  return new Promise((resolve) => {
    const child = execFile('bash', ['-o', 'pipefail', '-c', `exec 2>&1\n${command}`], { cwd, env, timeout: 30_000 }, (error, printed) => {
      resolve({ printed, status: error === null ? 0 : typeof error.code === 'number' ? error.code : -1 });
    });
    child.stdin?.end();
  });
}

it.concurrent.each(COMMANDS)('%s (%s)', async (command) => {
  const folder = mkdtempSync(path.join(home, 'copy-'));
  cpSync(path.join(home, 'harbour'), path.join(folder, 'harbour'), { recursive: true });
  cpSync(path.join(home, 'shared'), path.join(folder, 'shared'), { recursive: true });
  const here = command
    .replace(/https:\/\/[\w.]*example\.org|http:\/\/localhost:4318|http:\/\/127\.0\.0\.1:7411/, server?.url ?? '')
    .replace(/^source (?=.*zsh)|\| source$/, (word) => word.replace('source', 'cat')) // other shells may not be there
    .replace(/(?<!\S)mlld serve\b/, 'timeout --signal=INT 5 mlld serve --port 0')
    .replace('--host 0.0.0.0', '--host 127.0.0.1'); // no test listens to other machines
  const before = BEFORE[command];
  if (before !== undefined) await inShell(before, path.join(folder, 'harbour'));
  const { status, printed } = await inShell(here, path.join(folder, 'harbour'));
  const { status: expected, printed: says } = OTHERWISE[command] ?? { status: 0, printed: /^/ };
  expect({ status, printed }).toEqual({ status: expected, printed: expect.stringMatching(says) });
});

it('mentions in its texts only commands and flags that exist', () => {
  const mentioned = [...mentionedCommands()];
  expect(mentioned.filter(([command]) => unknownIn(command) !== undefined).map(([command, page]) => `${page}: ${command}`)).toEqual([]);
  expect(mentioned.length).toBeGreaterThan(50);
});

it('knows what does not exist', () => {
  const commands = [
    'mlld journal lisst',
    'mlld journal list --sincce 7d',
    'mlld jornal',
    'mlld journal list --since 7d',
    'mlld run X --resume',
  ];
  expect(commands.map(unknownIn)).toEqual(['lisst', '--sincce', 'jornal', undefined, undefined]);
});

it('finds commands in fences that show no outputs, without remarks', () => {
  const page = '```mlld\nshow 1\n```\n\n```sh\nmlld a --b   # why\nls\n```\ntext\n```\n$ mlld c\nprinted\n```\n```js\nmlld d\n```\n';
  expect(commandsIn(page)).toEqual(['mlld a --b']);
  expect(COMMANDS.length).toBeGreaterThan(100);
});
