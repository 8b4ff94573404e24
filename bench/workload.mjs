// The scripts that are run. Plain language that any implementation understands; sizes are parameters.

import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

export function project(folder) {
  mkdirSync(join(folder, 'llm', 'run'), { recursive: true });
  writeFileSync(join(folder, 'mlld-config.json'), '{}\n');
  return folder;
}

const NUMBERS = 'exe @numbers(n) = js { return Array.from({ length: Number(n) }, (_, i) => i) }';
const ROWS =
  'exe @rows(n) = js { return Array.from({ length: Number(n) }, (_, i) => ({ id: i, place: { shelf: "s" + (i % 9), slot: i % 50 } })) }';

/** One kind of cheap operation, N times inside a collecting loop. */
export const KINDS = {
  js: (n) => [NUMBERS, 'exe @next(x) = js { return x + 1 }', `var @xs = @numbers(${n})`, 'var @out = for @x in @xs => @next(@x)'],
  template: (n) => [NUMBERS, `var @xs = @numbers(${n})`, 'var @unit = "kg"', 'var @out = for @x in @xs => `crate @x weighs @x @unit`'],
  call: (n) => [NUMBERS, 'exe @tag(x) = `crate-@x`', `var @xs = @numbers(${n})`, 'var @out = for @x in @xs => @tag(@x)'],
  field: (n) => [ROWS, `var @all = @rows(${n})`, 'var @out = for @r in @all => @r.place.shelf'],
  block: (n) => [
    NUMBERS,
    'exe @grade(x) = [\n  let @y = @x + 3\n  => when [\n    @y > 50 => "high"\n    * => "low"\n  ]\n]',
    `var @xs = @numbers(${n})`,
    'var @out = for @x in @xs => @grade(@x)',
  ],
  parallel: (n) => [
    NUMBERS,
    'exe @next(x) = js { return x + 1 }',
    `var @xs = @numbers(${n})`,
    'var @out = for parallel(20) @x in @xs => @next(@x)',
  ],
};

export function operationsScript(folder, kind, n) {
  const file = join(folder, `operations-${kind}-${n}.mld`);
  writeFileSync(file, `${KINDS[kind](n).join('\n')}\nshow @out.length\n`);
  return file;
}

/** About `lines` lines of many different directives that compute little. */
export function longScript(folder, lines) {
  const blocks = [
    (i) => [`var @harbour${i} = "quay ${i}"`],
    (i) => [`var @tide${i} = { level: ${i}, name: "spring ${i}", marks: [${i}, ${i + 1}, ${i + 2}] }`],
    (i) => [`exe @label${i}(a, b) = \`@a at berth ${i} beside @b\``],
    (i) => [`var @line${i} = \`pilot ${i} boards @harbour${i - 3} today\``],
    (i) => [`exe @rank${i}(x) = when [`, `  @x > ${i} => "above"`, `  @x == ${i} => "equal"`, '  * => "below"', ']'],
    (i) => [`>> remark number ${i} about the mooring plan`],
    (i) => [`exe @plan${i}(x) = [`, `  let @y = @x + ${i}`, '  => @y', ']'],
    (i) => [`var @pick${i} = @tide${i - 6}.name`],
  ];
  const out = [];
  for (let i = 0; out.length < lines - 1; i++) out.push(...blocks[i % blocks.length](i));
  out.push('show "ready"');
  const file = join(folder, `long-${lines}.mld`);
  writeFileSync(file, `${out.join('\n')}\n`);
  return { file, lines: out.length };
}

/** Makes N calls with results of 4 KB through for parallel(20); the body returns at once, so that recording is measured. */
export function pipelineScript(file, n, { label }) {
  const body = `js { const seed = String(p); let s = 'verdict on ' + seed + ': '; while (s.length < 4096) s += seed + ' holds, line ' + s.length + '; '; return s.slice(0, 4096) }`;
  const lines = [
    'exe @prompts(n) = js { return Array.from({ length: Number(n) }, (_, i) => "Review source file number " + i + " of the fleet ledger, list every defect with a line reference and a severity.") }',
    `exe ${label}@review(p) = ${body}`,
    `var @ps = @prompts(${n})`,
    'var @out = for parallel(20) @p in @ps => @review(@p)',
    'show @out.length',
  ];
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, `${lines.join('\n')}\n`);
}

/** Makes N slow calls; each call that is executed leaves a line in `calls.log` of the folder it runs in. */
export function slowScript(file, { n, delayMs, callsFile }) {
  const lines = [
    'exe @prompts(n) = js { return Array.from({ length: Number(n) }, (_, i) => "hull section " + i) }',
    'exe llm @inspect(p) = node {',
    '  const fs = require("fs");',
    `  await new Promise((r) => setTimeout(r, ${delayMs}));`,
    `  fs.appendFileSync(${JSON.stringify(callsFile)}, p + "\\n");`,
    '  return ("report on " + p + " ").repeat(200).slice(0, 4096);',
    '}',
    `var @ps = @prompts(${n})`,
    'var @out = for parallel(20) @p in @ps => @inspect(@p)',
    'exe @digest(o) = js { return o.length + " " + o.filter((x, i) => String(x).startsWith("report on hull section " + i + " ")).length }',
    'show @digest(@out)',
  ];
  writeFileSync(file, `${lines.join('\n')}\n`);
}
