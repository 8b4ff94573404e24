/** Gathers what the page of a run shows: the reports about it, what it was started with, its sources and its output. */
import type { Json, Payload } from '../../../journal/event.js';
import type { CacheFlags, ForkRef, RecordedCallSettings } from '../../../journal/facts/run-event.js';
import type { CallKey } from '../../../journal/ids.js';
import type { Defect, JournalStore, RunFile } from '../../../journal/store.js';
import { foldRun } from '../../fold/fold-run.js';
import { readPayload } from '../call/call-record.js';
import { postMortemOf, type PostMortemReport } from '../postmortem/postmortem-run.js';
import { endCrashedRun } from '../postmortem/salvaged-calls.js';
import { sourceAt } from '../postmortem/source-lines.js';
import { reportData, type ReportData } from '../timeline/report.js';
import { readDetails, type SpanDetails } from '../timeline/report-details.js';
import { cutTo, type ShownText } from '../timeline/shown-texts.js';
import { timeline } from '../timeline/timeline.js';
import { forkSources, type PageFork } from './fork-sources.js';
import { runFacts, type RunFacts } from './run-facts.js';

export type { PageFork } from './fork-sources.js';

/** UTF-16 units. A page of ten thousand calls is to have 15 MB at most. */
const DETAILS_UNITS = 8_000_000;
const SOURCE_UNITS = 200_000;
const OUTPUT_UNITS = 200_000;
const FILES_MAX = 500;

/** A post-mortem without the lists that grow with the run. */
export interface Verdict extends Omit<PostMortemReport, 'resume' | 'inFlight' | 'argv' | 'lanes'> {
  readonly inFlight: number;
  readonly resume: {
    readonly reused: number;
    readonly unresolved: number;
    readonly notStarted: number;
    readonly durationMs: number | null;
    readonly costUsd: number | null;
    readonly unpriced: number;
    /** Calls may follow that are not counted: a resume makes at least these. */
    readonly isPart: boolean;
  };
}

export interface PageInputs {
  readonly argv: readonly string[];
  readonly payload: Json;
  readonly flags: CacheFlags;
  readonly calls: RecordedCallSettings;
  readonly forks: readonly ForkRef[];
  /** The run that this one resumes. */
  readonly resumes: string | null;
  readonly workingDirectory: string | null;
  readonly host: string;
  readonly versions: { readonly [program: string]: string };
}

export interface PageSource {
  readonly path: string;
  readonly role: string;
  /** Null where the journal has no text of it any more. */
  readonly text: ShownText | null;
}

/** One visit of a node, in the order in which they began. */
export interface PageStep {
  readonly op: string;
  /** The earlier run that made the visit, where the run of the page resumed it; null for the run of the page. */
  readonly run: string | null;
  readonly node: string;
  /** From 0. */
  readonly visit: number;
  readonly handler: string;
  /** Since the start of its run. */
  readonly atMs: number;
  readonly status: string;
  readonly attempts: number;
  readonly durationMs: number | null;
  readonly reason: string;
  /** Reasons for which it was tried again, an entry for each time. */
  readonly retries: readonly string[];
  readonly notes: string;
  /** The beginning of what it replied or printed. */
  readonly output: string;
  /** Context keys that it set, with the beginnings of their values. */
  readonly changes: readonly (readonly [string, string])[];
  readonly edges: readonly {
    readonly to: string;
    readonly label: string;
    readonly condition: string | null;
    /** Null for an edge without a condition. */
    readonly held: boolean | null;
    /** The reason for which it was taken; null for an edge that was not. */
    readonly via: string | null;
  }[];
}

export interface PagePipeline {
  /** A drawing that was made harmless; null where there is none, and `reason` says why there will be none. */
  readonly svg: string | null;
  readonly reason: string | null;
  readonly steps: readonly PageStep[];
  /** The context as it was last, with the beginnings of its values. */
  readonly context: readonly (readonly [string, string])[];
}

export interface PageData {
  readonly report: ReportData;
  readonly verdict: Verdict;
  /** Commands that continue, repair or inspect the run, each with what it does. The first one is the most useful. */
  readonly steps: readonly (readonly [string, string])[];
  readonly inputs: PageInputs | null;
  /** The workflows and runs that a fork may reuse results of; empty for a run that is no fork. */
  readonly forkSources: readonly PageFork[];
  readonly sources: readonly PageSource[];
  /** For each of the report's sites its source, by its place in `sources`, and the line; null where it is in none. */
  readonly places: readonly (readonly [number, number] | null)[];
  readonly output: ShownText;
  /** Paths that the run wrote, at most `FILES_MAX` of them. */
  readonly files: readonly string[];
  readonly filesCount: number;
  /** Null for the run of a script. */
  readonly pipeline: PagePipeline | null;
  /** Names what can't be read of the journal, each kind of damage once: the page then shows less than what happened. */
  readonly defects: readonly string[];
}

export interface RunPage {
  readonly data: PageData;
  /** In the order of the report's spans. */
  readonly details: readonly (SpanDetails | null)[];
}

/** A page whose details are read when somebody looks at them. */
export interface OpenPage {
  readonly data: PageData;
  /** Reads those of all operations in the order of the report's spans, or of one; null where an operation has none. */
  details(op?: string): Promise<readonly (SpanDetails | null)[]>;
}

export interface PageOptions {
  readonly nowMs: number;
  readonly onDefect: (defect: Defect) => void;
  /** Words the commands of `steps`. */
  readonly stepsOf: (report: PostMortemReport) => PageData['steps'];
  readonly pipeline: PagePipeline | null;
}

export async function readPage(store: JournalStore, file: RunFile, options: PageOptions): Promise<RunPage> {
  const { data, details } = await openPageOf(store, file, options);
  return { data, details: await details() };
}

export async function openPageOf(
  store: JournalStore,
  file: RunFile,
  { nowMs, onDefect, stepsOf, pipeline }: PageOptions,
): Promise<OpenPage> {
  const { ref, liveness } = file;
  const defects = new Map<Defect['kind'], Defect>();
  const note = (defect: Defect): void => {
    if (!defects.has(defect.kind)) defects.set(defect.kind, defect);
    onDefect(defect);
  };
  const spans = await foldRun(store, ref, timeline, { onDefect: note });
  await endCrashedRun(store, file, spans.ledger);
  // The first scan has reported the damage.
  const silent = { onDefect: () => undefined };
  const facts = await foldRun(store, ref, runFacts, silent);
  const postMortem = await postMortemOf(store, file, { nowMs, ...silent });
  const isRunning = liveness === 'running' && spans.status === undefined;
  const report = reportData(ref, isRunning ? { ...spans, lastMs: Math.max(spans.lastMs ?? nowMs, nowMs) } : spans, liveness);
  const data: PageData = {
    report,
    verdict: verdictOf(postMortem),
    steps: stepsOf(postMortem),
    inputs: inputsOf(facts),
    forkSources: await forkSources(store, ref, facts, spans),
    ...(await sourcesOf(store, facts, report.sites)),
    output: await outputOf(store, facts),
    files: [...facts.files.keys()].slice(0, FILES_MAX),
    filesCount: facts.files.size,
    pipeline,
    // A run that is still running may be in the middle of a line.
    defects: [...defects.values()].filter(({ kind }) => !(isRunning && kind === 'torn-tail')).map(({ message }) => message),
  };
  return {
    data,
    details(op) {
      const wanted = op === undefined ? spans.spans : spans.spans.filter((span) => span.op === op);
      return readDetails(store, ref, wanted, DETAILS_UNITS);
    },
  };
}

function verdictOf(postMortem: PostMortemReport): Verdict {
  const { resume, inFlight, argv: _, lanes: __, ...rest } = postMortem;
  const { reused, unresolved, notStarted, durationMs = null, costUsd = null, unpriced, isPart } = resume;
  return {
    ...rest,
    inFlight: inFlight.length,
    resume: { reused, unresolved: unresolved.length, notStarted, durationMs, costUsd, unpriced, isPart },
  };
}

function inputsOf({ started }: RunFacts): PageInputs | null {
  if (started === undefined) return null;
  const { argv, payload, flags, forks = [], resume, given, host, versions } = started;
  return {
    argv,
    payload,
    flags,
    calls: given?.calls ?? {},
    forks,
    resumes: resume?.run ?? null,
    workingDirectory: given?.workingDirectory ?? null,
    host,
    versions,
  };
}

async function sourcesOf(
  store: JournalStore,
  { sources }: RunFacts,
  sites: readonly string[],
): Promise<Pick<PageData, 'sources' | 'places'>> {
  const paths = [...sources.keys()];
  const read: PageSource[] = [];
  for (const [path, { blob, role }] of sources) {
    const content = blob === undefined ? undefined : await store.getBlob(blob); // a redaction takes it out
    const text = content === undefined ? null : cutTo({ text: Buffer.from(content).toString('utf8'), more: 0 }, SOURCE_UNITS);
    read.push({ path, role, text });
  }
  const places = sites.map((site) => {
    const { file = '', line } = /^(?<file>.*?):(?<line>\d+)(?::\d+)?$/.exec(site)?.groups ?? {};
    const path = line === undefined ? undefined : sourceAt(paths, file);
    return path === undefined ? null : ([paths.indexOf(path), Number(line)] as const);
  });
  return { sources: read, places };
}

async function outputOf(store: JournalStore, { output, writes }: RunFacts): Promise<ShownText> {
  let text = '';
  for (const payload of output) {
    text += await textOf(store, payload);
    if (text.length > OUTPUT_UNITS) break;
  }
  const shown = cutTo({ text, more: 0 }, OUTPUT_UNITS);
  // The length of the writes that were not read is not known, but that there are some.
  return { text: shown.text, more: Math.max(shown.more, writes > output.length ? 1 : 0) };
}

async function textOf(store: JournalStore, payload: Payload): Promise<string> {
  const read = await readPayload(store, payload, '' as CallKey);
  if ('missing' in read) return `(${read.missing})\n`;
  return typeof read.value === 'string' ? read.value : JSON.stringify(read.value);
}
