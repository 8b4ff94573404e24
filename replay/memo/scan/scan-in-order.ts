/**
 * Scans runs one behind the other. Over a network, runs are read before their turn, so that many small ones are waited for once.
 *
 * SCAN-ORDER-1 Events are visited, and defects and errors reported, as if each run were read when the one before it has been.
 * SCAN-ORDER-2 At most 4 MB of events are held before their turn: a run that is larger is read when its turn has come.
 */
import type { JournalEvent } from '../../../journal/event.js';
import { visitLine } from '../../../journal/lines/unfit.js';
import type { RunRef } from '../../../journal/ids.js';
import type { Defect, JournalStore, Position, RunFile, ScanOptions, ScanReport } from '../../../journal/store.js';

const RUNS_AHEAD_MAX = 32;
const HELD_BYTES_MAX = 4 * 1024 * 1024;

export interface RunToScan {
  readonly file: RunFile;
  readonly from?: ScanOptions['from'];
}

interface Reader {
  readonly store: Pick<JournalStore, 'scan' | 'immediate'>;
  readonly visit: (event: JournalEvent, position: Position, ref: RunRef) => void;
  readonly onDefect: (defect: Defect) => void;
}

/** Yields each run when all of it has been visited. */
export async function* scanInOrder(
  reader: Reader,
  runs: readonly RunToScan[],
): AsyncGenerator<{ readonly file: RunFile; readonly report: ScanReport }> {
  const ahead: BegunScan[] = [];
  const aheadMax = reader.store.immediate === undefined ? RUNS_AHEAD_MAX : 0;
  for (const [n, run] of runs.entries()) {
    const scan = ahead.shift() ?? new BegunScan(reader, run, 'in-turn');
    for (const next of runs.slice(n + 1 + ahead.length, n + 1 + aheadMax)) {
      if (bytesOf([...ahead, next]) > HELD_BYTES_MAX) break; // SCAN-ORDER-2
      ahead.push(new BegunScan(reader, next, 'ahead'));
    }
    yield { file: run.file, report: await scan.takeTurn() };
  }
}

function bytesOf(runs: readonly RunToScan[]): number {
  return runs.reduce((sum, { file, from }) => sum + file.bytes - (from?.offset ?? 0), 0);
}

/** A scan that was begun `ahead` of its turn holds what it finds until then. */
class BegunScan implements RunToScan {
  readonly file: RunFile;
  readonly from: ScanOptions['from'];
  private readonly report: Promise<ScanReport>;
  private held: (() => void)[] | undefined;

  constructor({ store, visit, onDefect }: Reader, { file, from }: RunToScan, when: 'ahead' | 'in-turn') {
    this.file = file;
    this.from = from;
    this.held = when === 'ahead' ? [] : undefined;
    const { ref } = file;
    const visitLate = (event: JournalEvent, position: Position): void => {
      const defect = visitLine((each, at) => visit(each, at, ref), event, position, ref);
      if (defect !== undefined) onDefect(defect);
    };
    const hold = (event: JournalEvent, position: Position): void => void this.held?.push(() => visitLate(event, position));
    this.report = store.scan(ref, (event, position) => (this.held ? hold : visit)(event, position, ref), {
      from,
      onDefect: (defect) => (this.held ? void this.held.push(() => onDefect(defect)) : onDefect(defect)),
    });
    this.report.catch(() => undefined); // it is reported at its turn, which does not come after an earlier error
  }

  /** SCAN-ORDER-1 */
  takeTurn(): Promise<ScanReport> {
    const { held = [] } = this;
    this.held = undefined;
    for (const visitOrReport of held) visitOrReport();
    return this.report;
  }
}
