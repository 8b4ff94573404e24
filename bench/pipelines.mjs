// Measures the cost of a node of a pipeline and its growth: long lines of stages, and loops of many rounds.
//   node pipelines.mjs [--nodes 1000,2000,4000] [--visits 2500,5000,10000] [--rounds 1] [--json FILE]
// line: model stages one after the other (simulated) · loop: a model stage (a function of a script) and a diamond that sends it back ·
// retold: the same with the whole history in each prompt (summary:high) · asked: a human gate in the loop, answered by --yes
// growth: what one visit of the largest costs, as a multiple of one of the smallest; 1 is constant.

import { mkdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';

import { runProcess, scratch } from './measure.mjs';
import { heading, saveJson, table } from './report.mjs';
import { median } from './statistics.mjs';
import { subjects } from './subjects.mjs';

const { values: options } = parseArgs({
  options: {
    nodes: { type: 'string', default: '1000,2000,4000' },
    visits: { type: 'string', default: '2500,5000,10000' },
    rounds: { type: 'string', default: '1' },
    json: { type: 'string' },
  },
});
const ENDS = 'start [shape=Mdiamond]\nexit [shape=Msquare]';
const KINDS = {
  line: { sizes: sizesOf(options.nodes), text: line },
  loop: { sizes: sizesOf(options.visits), text: () => loop('check [shape=diamond]\nstart -> work -> check') },
  retold: {
    sizes: sizesOf(options.visits),
    text: () => loop('check [shape=diamond]\nstart -> work -> check\ndefault_fidelity="summary:high"'),
  },
  asked: { sizes: sizesOf(options.visits), text: () => loop('ask [shape=hexagon]\ncheck [shape=diamond]\nstart -> work -> ask -> check') },
};
const root = scratch('pipelines');
const ours = subjects().find(({ name }) => name === 'ours');

heading('long pipelines');
const rows = [];
for (const [kind, { sizes, text }] of Object.entries(KINDS)) {
  const costs = [];
  for (const size of [1, ...sizes]) costs.push(await costOf(kind, size, text(size)));
  const [base, ...measured] = costs;
  const perVisit = measured.map(({ cpu }, i) => (cpu - base.cpu) / sizes[i]);
  for (const [i, { cpu, wall, rssMB, checkpointKB }] of measured.entries()) {
    const size = sizes[i];
    rows.push({ kind, size, cpu, wall, rssMB, checkpointKB, msPerVisit: perVisit[i] * 1e3, growth: perVisit[i] / perVisit[0] });
  }
  process.stderr.write(` ${kind}\n`);
}
const columns = {
  kind: 'kind',
  visits: 'size',
  'cpu s': 'cpu',
  'wall s': 'wall',
  'rss MB': 'rssMB',
  'checkpoint.json KB': 'checkpointKB',
  'ms cpu/visit': 'msPerVisit',
  growth: 'growth',
};
table('Whole processes; per visit: beyond the same pipeline with one', Object.entries(columns), rows);
saveJson(options.json, { rows });

async function costOf(kind, size, text) {
  const runs = [];
  let checkpointKB = 0;
  for (let round = 0; round < Number(options.rounds); round++) {
    const cwd = join(root, `${kind}-${size}-${round}`);
    mkdirSync(cwd);
    writeFileSync(join(cwd, 'mlld-config.json'), '{}');
    writeFileSync(join(cwd, 'p.dot'), text);
    writeFileSync(join(cwd, 'work.mld'), worker(size));
    const result = await runProcess([...ours.argv, 'run', 'p.dot', '--yes', '--run-dir', 'run'], { cwd });
    if (result.code !== 0) throw new Error(`${kind} ${size} ended with ${result.code}: ${result.stderr.slice(-500)}`);
    checkpointKB = Math.round(statSync(join(cwd, 'run', 'checkpoint.json')).size / 1024);
    runs.push(result);
    rmSync(cwd, { recursive: true, force: true });
    process.stderr.write('.');
  }
  const of = (key) => median(runs.map((run) => run[key]));
  return { cpu: of('cpu'), wall: of('wall'), rssMB: of('rssMB'), checkpointKB };
}

function line(size) {
  const ids = Array.from({ length: size }, (_, i) => `n${i}`);
  return `digraph line {\n${ENDS}\n${ids.map((id) => `${id} [prompt="Do ${id}"]`).join('\n')}\nstart -> ${ids.join(' -> ')} -> exit\n}\n`;
}

function loop(body) {
  return `digraph loop {\nbackend="exe:work.mld#work"\n${ENDS}\nwork [prompt="Go on"]\n${body}\ncheck -> work [condition="context.more=yes"]\ncheck -> exit\n}\n`;
}

/** Says that there is more to do until it was asked `size` times. */
function worker(size) {
  return `exe llm @work(prompt, node, context) = js {
  return { outcome: 'success', context_updates: { more: node.visit + 1 < ${size} ? 'yes' : 'no' } }
}
export { @work }
`;
}

function sizesOf(text) {
  return text.split(',').map(Number);
}
