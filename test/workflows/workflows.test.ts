/**
 * Projects as users write them: modules, templates, phases in folders, hooks, guards, parallel loops, retries. A stand-in
 * for the model writes a line into `asked.jsonl` for every call, so the calls that are counted were really executed. The
 * output of each workflow is in its `expected.txt`.
 */
import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { callCli } from '../support/in-process/call-cli.js';
import { projectFolder, type CliResult } from '../support/cli.js';
import { PROJECT } from '../support/source-files.js';

interface Workflow {
  readonly name: string;
  readonly argv: readonly string[];
  readonly stdin?: string;
  /** Beside the files of the folder: what no formatter or linter of ours should see. */
  readonly files?: { readonly [name: string]: string };
  readonly asks: number;
  /** Results that a guard denied are not recorded: so many calls are made again by a run in which nothing changed. */
  readonly refused?: number;
  /** Parts of files that are there after two runs. */
  readonly writes: readonly (readonly [file: string, part: string])[];
  /** A change after two runs, and how many calls the third one makes. */
  readonly afterwards: {
    readonly why: string;
    readonly argv?: readonly string[];
    readonly edit?: readonly [file: string, from: string, to: string];
    readonly asks: number;
  };
}

const USERS = `var limit = 10;
function list(db) {
  return db.all().then(function (rows) { return rows.slice(0, limit); });
}
module.exports = { list };
`;

const workflows: readonly Workflow[] = [
  {
    name: 'bulletin',
    argv: ['run', 'bulletin', '--checkpoint'],
    asks: 7,
    writes: [
      ['out/bulletin.md', '- **Skua Bank**: A hard morning at Skua Bank, wind 31 (warning)\n'],
      ['out/feed.jsonl', '{"id":"gull","tries":2,"warn":true}\n{"id":"tern","tries":1,"warn":false}\n'],
      ['out/index.yaml', 'winds:\n  - 24\n  - 12\n'],
      ['out/costs.jsonl', '{"fn":"ask","what":"title","cached":true}\n'],
      ['out/pages/auk.html', '<a href="mailto:desk@coast.example">'],
    ],
    afterwards: { why: 'for a part of the coast only the headline', argv: ['--sea', 'south'], asks: 1 },
  },
  {
    name: 'tickets',
    argv: ['support/main.mld.md', '--checkpoint', '--state', '{"expected": 6, "desk": {}}'],
    asks: 16,
    writes: [
      ['out/report.md', '| 4 | faults | Dear dan, about export fails: ask for the time of the error. |\n'],
      ['out/report.md', 'Batches: [[1,2],[3,4],[6]]\n'],
      ['out/answers.jsonl', '"text":"Dear ben, about invoice twice: refunds within a week.","tries":2}\n'],
      ['out/calls.log', 'classify true\n'],
    ],
    afterwards: { why: 'for some of the tickets nothing', argv: ['--only', '2', '--dry-run'], asks: 0 },
  },
  {
    name: 'migration',
    argv: ['run', 'migration'],
    files: {
      'src/api/ports.js': 'const ports = ["Ystad", "Visby"];\nmodule.exports = { ports };\n',
      'src/api/rates.js': 'const day = 24;\nfunction isDay(hours) {\n  return hours == day;\n}\nmodule.exports = { isDay };\n',
      'src/api/users.js': USERS,
      'src/ui/broken.js': 'var broken = (;\n',
      'src/ui/page.js': 'var title = "Ports";\nvar footer = "2024";\nmodule.exports = { title, footer };\n',
      'src/ui/notes.txt': 'no code\n',
    },
    asks: 11,
    writes: [
      ['out/code/api/users.js', 'return db.all().then((rows) => rows.slice(0, limit));'],
      ['out/code/ui/page.js', 'const footer = "2024";'],
      ['out/report.md', '| ./src/ui/broken.js | 3 | given up: use const |\n'],
      ['out/report.md', '#### no-var\n\nBindings are constants; a binding that changes has a reason beside it.\n'],
    ],
    afterwards: { why: 'for a file that changed its two attempts', edit: ['src/ui/page.js', '2024', '2025'], asks: 2 },
  },
  {
    name: 'audit',
    argv: ['run', 'audit', '--checkpoint'],
    asks: 23,
    refused: 1,
    writes: [
      ['out/audit.csv', 'guide-install,ann,9,stable,"over, see feed"\n'],
      ['out/audit.xml', '    <ID>reference-flags</ID>\n    <OWNER>ann</OWNER>\n'],
      ['out/audit.html', '<tr class="s-draft"><td>guide-usage</td><td>2</td></tr>\n'],
      ['out/feed.jsonl', '{"page":"guide-install","rule":"tone","words":["obviously","Just","easy"],"tries":2}\n'],
      ['out/costs.jsonl', '{"fn":"sum","chars":138,"cached":true}\n'],
      ['out/pages/guide-install.md', 'You need a boat and a harbour.\n'],
    ],
    afterwards: { why: 'what came after a checkpoint when told to', argv: ['--resume', 'judged'], asks: 3 },
  },
  {
    name: 'programme',
    argv: ['conf/index.mld', '--checkpoint', '--state', '@../state/desk.json', '--inject', '@limits={"accept": 8}'],
    stdin: '{"wanted": 2, "shout": false}',
    asks: 41,
    writes: [
      ['out/programme.csv', '11,A harbour in TypeScript,"Cy ""the"" Dahl",4,declined,true'],
      ['out/letters/2.txt', 'Dear Bo, please wait.\n\nthe desk'],
      ['out/loops.log', 'first of 4\nfirst of 4\n'],
      ['out/shown.txt', 'largest: Quay\ntried again: 11; all: 7 2 9 11\n'],
    ],
    afterwards: { why: 'the letters and their repeats when told to', argv: ['--resume', '@letter', '--quiet'], asks: 4 },
  },
];

describe.each(workflows)('the workflow $name', ({ name, argv, stdin = '', files = {}, asks, refused = 0, writes, afterwards }) => {
  it(`runs to its end, executes no call twice, and ${afterwards.why}`, async () => {
    const cwd = await projectFolder(files);
    cpSync(join(PROJECT, 'test/workflows', name), cwd, { recursive: true });
    const run = async (...more: readonly string[]): Promise<CliResult & { readonly asked: number }> => {
      const result = await callCli([...argv, ...more], { cwd, stdin });
      return { ...result, asked: readFileSync(join(cwd, 'asked.jsonl'), 'utf8').split('\n').length - 1 };
    };
    const stdout = readFileSync(join(cwd, 'expected.txt'), 'utf8');

    const first = await run();
    expect(first, first.stderr).toMatchObject({ status: 0, stdout, asked: asks });
    const second = await run();
    expect(second, second.stderr).toMatchObject({ status: 0, stdout, asked: asks + refused });
    for (const [file, part] of writes) expect(readFileSync(join(cwd, file), 'utf8')).toContain(part);

    if (afterwards.edit) {
      const [file, from, to] = afterwards.edit;
      writeFileSync(join(cwd, file), readFileSync(join(cwd, file), 'utf8').replace(from, to));
    }
    const third = await run(...(afterwards.argv ?? []));
    expect(third, third.stderr).toMatchObject({ status: 0, asked: asks + refused + afterwards.asks });
  });

  it('is valid', async () => {
    const { stdout, status } = await callCli(['validate', '.', '--deep'], { cwd: join(PROJECT, 'test/workflows', name) });
    expect(status, stdout).toBe(0);
    expect(stdout).toMatch(/\d+ files: \d+ passed$/m);
  });
});
