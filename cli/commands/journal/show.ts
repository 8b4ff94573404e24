/** `mlld journal show RUN`: prints the events of a run, one a line. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { EventOf, JournalEvent, Json, Payload } from '../../../journal/event.js';
import { OddLines } from '../../../src/api/reports/odd-lines.js';
import type { RunRef } from '../../../src/api/ids.js';
import type { JournalStore, Position, ScanOptions } from '../../../journal/store.js';
import { matchesFilter, type EventFilter } from '../../../src/api/reports/events.js';
import { resolveRun } from '../../../src/api/recorded-runs.js';
import { batchWrites, type Lines } from '../../terminal/batch-writes.js';
import type { Io } from '../../terminal/io.js';
import { openProject, reportDefects } from '../open-project.js';
import { renderEvent, renderMembers } from '../../render/reports/journal.js';
import { isAnsweredFromElsewhere, waitingLines } from '../../render/question.js';
import { reportStyle } from '../../render/style.js';

const FOLLOW_EVERY_MS = 200;
/** Bounds what is in memory of a long run. */
const PART_EVENTS = 256;

interface ShowOptions {
  readonly json?: true;
  readonly type?: readonly string[];
  readonly op?: string;
  readonly follow?: true;
  readonly full?: true;
}

export async function show(io: Io, text: string, { type: types, op, follow, full, json }: ShowOptions): Promise<void> {
  const { project, store } = await openProject(io);
  const file = await resolveRun(store, project, text);
  const filter: EventFilter = { types, op };
  const lines = batchWrites(io.stdout);
  const { print, settle, close } = json ? await printerOfJson(lines) : full ? printerOfMembers(io, store, lines) : printerOfText(io, lines);
  const onDefect = reportDefects(io);
  const questions = new OpenQuestions(file.ref);
  const isWhole = types === undefined && op === undefined && json === undefined;
  const odd = new OddLines(file.ref);
  const visit = (event: JournalEvent, position: Position): void => {
    if (json === undefined && !odd.isFit(event, position)) return; // as JSON it is printed as it is
    if (json === undefined) questions.follow(event);
    if (!matchesFilter(event, filter)) return;
    shown = true;
    print(event);
  };
  let shown = false;
  let from: ScanOptions['from'];
  for (;;) {
    // Looked up before reading, so that the last events of a run that ends meanwhile are still read.
    const { liveness } = follow === true ? await resolveRun(store, project, file.ref.run) : file;
    const isLive = liveness === 'running';
    const part = settle && { eventsMax: PART_EVENTS };
    const { end, events } = await store.scan(file.ref, visit, { onDefect, ...part, ...(from === undefined ? {} : { from }) });
    from = end;
    await settle?.();
    lines.end();
    if (part !== undefined && events === PART_EVENTS) continue;
    const leftOut = odd.defect();
    if (leftOut !== undefined) onDefect(leftOut);
    if (isLive && isWhole) for (const line of questions.unsaid(io.todayMs())) io.stdout(`${line}\n`);
    if (!isLive || follow === undefined) break;
    await sleep(FOLLOW_EVERY_MS);
  }
  await close();
  lines.end();
  if (!shown && (types !== undefined || op !== undefined))
    await (await import('./unmatched-filters.js')).reportUnmatchedFilters(io, store, file.ref, filter);
}

/** The questions that no one has answered yet, each of which is said once. */
class OpenQuestions {
  private readonly open = new Map<string, EventOf<'question.asked'>>();
  private readonly said = new Set<string>();
  private argv: readonly string[] = [];

  constructor(private readonly ref: RunRef) {}

  follow(event: JournalEvent): void {
    if (event.type === 'run.started') this.argv = event.argv;
    else if (event.type === 'question.asked') this.open.set(event.id, event);
    else if (event.type === 'question.answered') this.open.delete(event.id);
  }

  unsaid(nowMs: number): readonly string[] {
    const fresh = [...this.open.values()].filter(({ id }) => !this.said.has(id));
    for (const { id } of fresh) this.said.add(id);
    const answerable = isAnsweredFromElsewhere({ ...this.ref, argv: this.argv });
    return fresh.flatMap((event) => {
      const waitedMs = Math.max(0, nowMs - Date.parse(event.ts));
      const [asked, how] = waitingLines({ ...event, waitedMs, answerable }, this.ref.run);
      return [asked, `  ${how}`];
    });
  }
}

interface Printer {
  print(event: JournalEvent): void;
  /** Adds to the lines what needs more reading; then the events come in parts. */
  settle?(): Promise<void>;
  /** All that was printed has been added to the lines. */
  close(): Promise<void>;
}

function printerOfText(io: Io, lines: Lines): Printer {
  const style = reportStyle(io);
  return { print: (event) => lines.add(renderEvent(event, style)), close: async () => undefined };
}

function printerOfMembers(io: Io, store: JournalStore, lines: Lines): Printer {
  const style = reportStyle(io);
  const waiting: JournalEvent[] = [];
  return {
    print: (event) => void waiting.push(event),
    settle: async () => {
      for (const event of waiting.splice(0)) {
        const resolve = (payload: Payload): Promise<Json | undefined> => store.resolve(payload);
        lines.add(renderEvent(event, style) + (await renderMembers(event, style, resolve)));
      }
    },
    close: async () => undefined,
  };
}

async function printerOfJson(lines: Lines): Promise<Printer> {
  const { finished } = await import('node:stream/promises');
  const { default: ndjson } = await import('ndjson');
  const encoder = ndjson.stringify();
  encoder.on('data', (line: Buffer | string) => lines.add(String(line)));
  return {
    print: (event) => void encoder.write(event),
    close: async () => {
      encoder.end();
      await finished(encoder);
    },
  };
}
