// Measures the time that hooks and guards add to an operation: calls of a cheap function, watched by none, by others, by one, by ten.
//   node hooks.mjs [--calls 10000] [--rounds 5] [--json FILE]

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';

import { interleave, scratch } from './measure.mjs';
import { heading, saveJson, table } from './report.mjs';
import { subjects } from './subjects.mjs';
import { project } from './workload.mjs';

const { values: options } = parseArgs({
  options: { calls: { type: 'string', default: '10000' }, rounds: { type: 'string', default: '5' }, json: { type: 'string' } },
});
const calls = Number(options.calls);
const cwd = project(scratch('hooks'));

const repeat = (line, times) => Array.from({ length: times }, () => line).join('\n');
const WATCHERS = {
  none: '',
  'a hook on another function': 'hook after @other = when [ * => pass ]',
  'ten hooks on other functions': repeat('hook after @other = when [ * => pass ]', 10),
  'one idle hook': 'hook after @f = when [ * => pass ]',
  'ten idle hooks': repeat('hook after @f = when [ * => pass ]', 10),
  'one hook that replaces': 'hook after @f = [ => @output ]',
  'a guard on another function': 'guard before @other = when [ * => allow ]',
  'one guard that allows': 'guard before @f = when [ * => allow ]',
};

heading('hooks');
const rows = [];
for (const { name: who, argv } of subjects()) {
  const variants = Object.entries(WATCHERS).map(([name, watchers], i) => {
    const file = join(cwd, `hooks-${i}.mld`);
    writeFileSync(file, script(watchers));
    return { name, argv: [...argv, file], cwd };
  });
  const measured = await interleave(variants, { rounds: Number(options.rounds) });
  const base = measured[0];
  for (const { name, cpu, cpuRatio, failed, stdout } of measured) {
    const usPerCall = ((cpu - base.cpu) * 1e6) / calls;
    rows.push({ who, watched: name, cpu, cpuRatio, usPerCall, right: failed === 0 && stdout.trim() === String(calls) });
  }
}
const columns = {
  who: 'who',
  'watched by': 'watched',
  'cpu s': 'cpu',
  'of unwatched': 'cpuRatio',
  'us more per call': 'usPerCall',
  right: 'right',
};
table(`${calls} calls`, Object.entries(columns), rows);
saveJson(options.json, { rows });

function script(watchers) {
  return `exe @list(n) = js { return Array.from({ length: n }, (_, i) => i) }
exe @f(x) = \`item @x\`
exe @other(x) = "other"
${watchers}
var @items = @list(${calls})
var @results = for @item in @items => @f(@item)
show @results.length
`;
}
