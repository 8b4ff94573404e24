/** Scripts in the manner of public repositories, each killed twice, resumed, and resumed again: no call is executed twice. */
import { spawn } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { callCli } from '../support/in-process/call-cli.js';
import { projectFolder } from '../support/cli.js';

const CLI = join(import.meta.dirname, '..', '..', 'dist', 'mlld.cjs');
/** Slow enough to be killed in the middle of a script. */
const AGENT = 'cmd:sleep 0.03; if grep -q JSON; then echo \'{"items": ["a", "b"], "ok": true}\'; else echo done; fi';
const LIST = "{ type: 'object', required: ['items'], properties: { items: { type: 'array', items: { type: 'string' } } } }";
const VOTE = "{ type: 'object', required: ['ok'], properties: { ok: { type: 'boolean' } } }";

const SCRIPTS: { readonly [name: string]: string } = {
  'an audit with three skeptics for each finding': `
const found = await pipeline(['api', 'cli', 'docs'], (area) => agent('Find faults in ' + area, { phase: 'Find', schema: ${LIST} }),
  (list, area) => parallel(list.items.map((item) => async () => {
    const votes = await parallel([1, 2, 3].map(() => () => agent('Refute ' + item + ' of ' + area, { phase: 'Verify', schema: ${VOTE} })))
    return votes.filter(Boolean).length >= 2 ? item : null
  })))
return await agent('Write up ' + JSON.stringify(found))`,
  'a migration, file by file, with a check of each': `
const files = Array.from({ length: 5 }, (_, n) => 'src/file' + n + '.ts')
const done = []
for (const file of files) {
  const plan = await agent('Plan the migration of ' + file)
  done.push(await agent('Migrate ' + file + ' by ' + plan))
  log('migrated', file, new Date().toISOString())
}
const checks = await parallel(done.map((text, n) => () => agent('Check ' + n + ': ' + text, { schema: ${VOTE} })))
return checks.filter((check) => check && check.ok).length`,
  'a translation with a glossary and a second reader': `
const glossary = await agent('Make a glossary', { schema: ${LIST} })
return await pipeline(['en', 'de', 'fr', 'it'], (to) => agent('Translate to ' + to + ' with ' + glossary.items.join()),
  (text, to) => agent('Read as a native of ' + to + ': ' + text), (notes, to, n) => agent('Amend ' + n + ' by ' + notes))`,
  'a loop until nothing new is found, within a budget': `
const seen = new Set(); let dry = 0; let round = 0
while (dry < 4 && round < 8 && budget.remaining() > 0) {
  const { items } = await agent('Round ' + round++ + ': more than ' + [...seen].join(), { schema: ${LIST} })
  const fresh = items.filter((item) => !seen.has(item + Math.floor(round / 3)))
  if (fresh.length === 0) dry++
  for (const item of fresh) seen.add(item + Math.floor(round / 3))
}
return [...seen]`,
  'a panel of judges, with a tie that is asked again': `
phase('Draft')
const drafts = await parallel(['bold', 'dry', 'warm'].map((tone) => () => agent('Draft, ' + tone, { label: 'draft:' + tone })))
phase('Judge')
const scores = await Promise.all(drafts.flatMap((draft, n) => [1, 2].map(() => agent('Score draft ' + n, { schema: ${VOTE} }))))
if (scores.every((score) => score.ok)) scores.push(await agent('Break the tie'))
return scores.length`,
  'research that fans out, with agents that fail': `
const topics = ['tides', 'ropes', 'lamps', 'locks']
const notes = await parallel(topics.map((topic) => async () => {
  const sources = await agent('Sources on ' + topic, { schema: ${LIST} })
  const read = await parallel(sources.items.map((source) => () => agent('Read ' + source + ' on ' + topic)))
  if (topic === 'lamps') throw new Error('no lamps')
  return read.join(' ')
}))
const extra = (await agent('An appendix', { timeoutMs: 20000 })) ?? 'none'
return await agent('Summarise ' + notes.filter(Boolean).join(' ') + extra + Math.random())`,
  'a review by dimensions, with a verdict for each finding': `
const DIMENSIONS = [{ key: 'bugs', n: 2 }, { key: 'speed', n: 1 }, { key: 'names', n: 2 }]
phase('Review')
const reviews = await pipeline(DIMENSIONS,
  (dimension) => agent('Review the diff for ' + dimension.key, { label: 'review:' + dimension.key, phase: 'Review', schema: ${LIST} }),
  (review, { key }) => parallel(review.items.map((title) => () =>
    agent('Is it true: ' + title + ' (' + key + ')', { label: 'verify:' + key, phase: 'Verify', schema: ${VOTE} }).then((verdict) => ({ title, verdict })))))
const confirmed = reviews.flat().filter(Boolean).filter(({ verdict }) => verdict?.ok)
log(confirmed.length + ' confirmed')
return { confirmed, all: reviews.flat().length }`,
  'a tournament, two by two, until one is left': `
let names = Array.from({ length: 8 }, (_, n) => 'name' + n)
for (let round = 1; names.length > 1; round++) {
  phase('Round ' + round)
  const pairs = []
  for (let n = 0; n < names.length; n += 2) pairs.push([names[n], names[n + 1]])
  const verdicts = await parallel(pairs.map(([left, right]) => () => agent('Better: ' + left + ' or ' + right, { schema: ${VOTE} })))
  names = pairs.map((pair, n) => verdicts[n]?.ok ? pair[0] : pair[1])
}
return names[0]`,
  'a fix that is tried until the tests pass, with a way out': `
const report = []
for (const bug of ['leak', 'race', 'typo']) {
  let notes = ''
  for (let attempt = 1; attempt <= 3; attempt++) {
    const change = await agent('Mend ' + bug + ', attempt ' + attempt + notes, { label: 'fix:' + bug })
    if (change === null) throw new Error('nobody mends ' + bug)
    const tests = await agent('Run the tests after ' + bug + ' ' + attempt, { schema: ${VOTE}, retries: 1 })
    if (tests.ok && attempt > 1) break
    notes = '; it failed at ' + new Date().getFullYear()
  }
  report.push(bug)
}
return report`,
  'a plan whose tasks wait for each other': `
const TASKS = { schema: [], api: ['schema'], client: ['api'], docs: ['api'], release: ['client', 'docs'] }
const done = new Map()
const finish = (name) => {
  if (!done.has(name)) done.set(name, (async () => {
    const before = await Promise.all(TASKS[name].map(finish))
    return agent('Do ' + name + ' after ' + before.join(' and '), { label: name, effort: 'low' })
  })())
  return done.get(name)
}
const results = await Promise.all(Object.keys(TASKS).map(finish))
const review = await parallel(results.map((text, n) => () => agent('Look at ' + n + ' ' + text, { agentType: 'reviewer' })))
return review.length`,
  'a report in chapters by another script, with an appendix': `
const chapters = await workflow({ scriptPath: 'chapters.js' }, { topics: ['tides', 'locks'] })
const notes = await parallel(chapters.map((text, n) => () => agent('Comment on chapter ' + n + ': ' + text)))
const sample = await Promise.all([1, 2, 3].map(() => agent('Name a title')))
return await agent('Bind ' + [...notes, ...sample].join(' ') + ' at ' + Math.round(Math.random() * 1e9))`,
  'a sweep in batches, each with a pause between': `
const files = Array.from({ length: 9 }, (_, n) => 'part' + n)
const found = []
for (let at = 0; at < files.length; at += 3) {
  const batch = await parallel(files.slice(at, at + 3).map((file) => () => agent('Sweep ' + file)))
  found.push(...batch.filter(Boolean))
  await new Promise((resolve) => setTimeout(resolve, 5))
}
return { found: found.length, words: await agent('Sum up ' + JSON.stringify(found)) }`,
  'a triage that sends each issue another way': `
const WAYS = { bug: (n) => agent('Reproduce ' + n, { label: 'bug:' + n }), wish: (n) => agent('Weigh the wish ' + n), spam: async () => null }
const kinds = ['bug', 'wish', 'spam', 'bug', 'wish']
const seen = await pipeline(kinds.map((kind, n) => ({ kind, n })),
  async ({ kind, n }) => ({ kind, n, size: await agent('Size of issue ' + n, { schema: ${LIST} }) }),
  async ({ kind, n }) => WAYS[kind](n), (said, { kind }) => said && agent('Label ' + kind + ' by ' + said))
return seen.filter(Boolean).length`,
  'a tree of questions that grows by its answers': `
const nodes = []
const ask = async (topic, depth) => {
  const { items } = await agent('Split ' + topic, { label: 'split:' + depth, schema: ${LIST} })
  nodes.push(topic)
  if (depth < 2) await Promise.all(items.map((item) => ask(topic + '/' + item, depth + 1)))
}
await ask('harbour', 0)
return await agent('Join ' + nodes.sort().join(' '))`,
  'a class that keeps what agents said, with retries of its own': `
class Desk {
  #notes = new Map()
  async ask(name, tries = 3) {
    for (let n = 1; n <= tries; n++) {
      const said = await agent('Note on ' + name + (n > 1 ? ', again ' + n : ''), { schema: ${VOTE} })
      this.#notes.set(name + n, said?.ok)
      if (said?.ok && n > 1) return this
    }
    return this
  }
  get size() { return this.#notes.size }
}
const desk = new Desk()
for (const name of ['tide', 'rope', 'lamp']) await desk.ask(name)
return { size: desk.size, last: await agent('Close the desk of ' + desk.size) }`,
  'a debate of two sides with a chair, in rounds': `
const log1 = []
for (let round = 1; round <= 3; round++) {
  phase('Round ' + round)
  const [pro, con] = await parallel(['for', 'against'].map((side) => () => agent('Argue ' + side + ' after ' + log1.join('; '), { label: side + ':' + round })))
  log1.push(pro + ' vs ' + con + ' ' + round)
}
phase('Chair')
const verdicts = await parallel(Array.from({ length: 3 }, () => () => agent('Judge ' + log1.join(' | '), { schema: ${VOTE} })))
return verdicts.filter((verdict) => verdict?.ok).length + ' of ' + verdicts.length`,
  'a queue that a few workers empty': `
const queue = Array.from({ length: 9 }, (_, n) => 'task ' + n)
const done = []
const worker = async (name) => { for (let task = queue.shift(); task; task = queue.shift()) done.push([task, await agent('Do ' + task)]) }
await Promise.all(['x', 'y', 'z'].map(worker))
const byTask = Object.fromEntries(done.sort())
return await agent('Report on ' + Object.keys(byTask).length + ' tasks: ' + JSON.stringify(byTask))`,
  'a release that asks for each change, and stops at a date': `
const changes = (args?.changes ?? ['one', 'two', 'three', 'four']).map((name, n) => ({ name, n }))
const notes = await parallel(changes.map(({ name, n }) => async () => {
  const text = await agent(\`Note for \${name} (\${n + 1} of \${changes.length})\`, { phase: 'Notes' })
  const { ok } = await agent(\`Is this note fit to print: \${text}\`, { phase: 'Check', schema: ${VOTE}, timeoutMs: 30_000 })
  return ok ? { name, text } : null
}))
const day = new Date(Date.now()).toISOString().slice(0, 10)
log('as of', day)
return { notes: notes.filter(Boolean).map(({ name }) => name), head: await agent('Head of the release of ' + day.length) }`,
  'rounds of a generator that asks the same many times, and keeps the best': `
async function* rounds(task) {
  for (let round = 1; round <= 2; round++) {
    const drafts = await Promise.all([1, 2, 3].map(() => agent('Write ' + task)))
    const scored = await pipeline(drafts, (draft) => agent('Score: ' + draft, { schema: ${VOTE} }), ({ ok }, draft, n) => ({ draft, ok, n }))
    yield scored.filter(Boolean)
  }
}
let kept = 0
for (const task of ['a queue', 'a cache']) {
  phase(task)
  for await (const scored of rounds(task)) kept += scored.filter(({ ok }) => ok).length
}
return await Promise.race([agent('Polish ' + kept), agent('Polish ' + kept)])`,
  'services that another script looks at, side by side, and one that is not there': `
const looks = await parallel(['web', 'jobs'].map((service) => async () => {
  const texts = await workflow({ scriptPath: './chapters.js' }, { topics: [service, 'all'] })
  return texts.length
}))
let missing
try { await workflow('no-such-script') } catch (error) { missing = error.message.includes('no-such-script') }
return { looks, missing, joined: await agent('Join ' + looks.join() + ' at ' + Date.now(), { effort: 'low' }) }`,
};

const CHAPTERS = `export const meta = { name: 'chapters', description: 'x' }
return await pipeline(args.topics, (topic) => agent('Outline ' + topic), (outline, topic) => agent('Write ' + topic + ' by ' + outline))
`;

/** The keys of the calls that the runs of the script executed, with how often. */
function executed(cwd: string): readonly string[] {
  const runs = join(cwd, '.mlld', 'journal', 'job.js', 'runs');
  const files = existsSync(runs) ? readdirSync(runs).filter((name) => name.endsWith('.ndjson')) : [];
  const lines = files.flatMap((name) => readFileSync(join(runs, name), 'utf8').split('\n'));
  return lines.flatMap((line) => (line.includes('"type":"call.completed"') ? [/"key":"([^"]+)"/.exec(line)?.[1] ?? ''] : []));
}

it.each(Object.entries(SCRIPTS))('%s', { timeout: 120_000 }, async (_name, body) => {
  const cwd = await projectFolder({
    'mlld-config.json': '{}',
    'job.js': `export const meta = { name: 'job', description: 'x' }${body}\n`,
    'chapters.js': CHAPTERS,
  });
  const words = ['run', 'job.js', '--backend', AGENT, '--parallel', '3', '--budget', '900k'];
  // A kill comes at any moment around these counts: what the script has begun by then differs from time to time.
  const first = 1 + Math.floor(Math.random() * 4);
  for (const enough of [first, first + 1 + Math.floor(Math.random() * 4)]) {
    const child = spawn(process.execPath, [CLI, ...words, '--resume'], { cwd, stdio: 'ignore' });
    const closed = new Promise((resolve) => child.on('close', resolve));
    while (executed(cwd).length < enough && child.exitCode === null) await new Promise((resolve) => setTimeout(resolve, 5));
    await new Promise((resolve) => setTimeout(resolve, Math.random() * 30));
    child.kill('SIGKILL');
    await closed;
  }
  const third = await callCli([...words, '--resume'], { cwd });
  expect(third).toMatchObject({ status: 0 });
  const keys = executed(cwd);
  expect(keys.length).toBeGreaterThan(5);
  expect(new Set(keys).size).toBe(keys.length);
  const fourth = await callCli([...words, '--resume'], { cwd });
  expect({ status: fourth.status, stdout: fourth.stdout }).toEqual({ status: 0, stdout: third.stdout });
  expect(executed(cwd)).toHaveLength(keys.length);
});

it.each([
  [
    'a module of Node',
    "const fs = require('fs')\nreturn fs.readdirSync('.')",
    'job.js:2:12',
    'require is not available in a workflow script',
  ],
  [
    'a name of Node that it looked for',
    "if (typeof Buffer === 'undefined') log('no Buffer')\nreturn Buffer.from('x')",
    'job.js:3:1',
    'Buffer is not available in a workflow script',
  ],
  ['a static import', "import { readFile } from 'fs'\nreturn 1", 'job.js:2:1', 'a static import is not possible'],
  ['a second export', 'export default 1', 'job.js:2:1', 'another export is not possible'],
  ['types', "const berth: string = 'north'\nreturn berth", 'job.js:2:12', 'this is JavaScript, not TypeScript'],
  ['a promise in the list', "return await parallel([agent('look')])", 'job.js:2:14', 'write () => agent('],
])('refuses %s with place and reason', async (_what, body, place, reason) => {
  const cwd = await projectFolder({
    'mlld-config.json': '{}',
    'job.js': `export const meta = { name: 'job', description: 'x' }\n${body}\n`,
  });
  const { status, stderr } = await callCli(['run', 'job.js', '--backend', AGENT], { cwd });
  expect(status).toBe(1);
  expect(stderr).toContain(place);
  expect(stderr).toContain(reason);
});
