/**
 * Wraps a store for reports: lines whose members this program can't read are left out, and reported once for each scan of a run.
 *
 * REPORT-STORE-1 Nothing that reads for another purpose gets such a store (MEMBERS-1).
 * REPORT-STORE-2 Nothing derived is kept of a workflow of which lines were left out: a start would use an index that lacks results.
 */
import { unfitMember } from '../../journal/lines/member-types.js';
import type { JournalEvent } from '../../journal/event.js';
import type { RunRef, Workflow } from '../../journal/ids.js';
import type { Defect, JournalStore, Position } from '../../journal/store.js';

/** Finds in one run the lines to leave out, and says how many these are. */
export class OddLines {
  private count = 0;
  private first: { readonly line: number; readonly offset: number; readonly member: string; readonly type: string } | undefined;

  constructor(private readonly run: RunRef) {}

  /** False for a line that is to be left out. */
  isFit(event: JournalEvent, { offset }: Pick<Position, 'offset'>): boolean {
    const member = unfitMember(event);
    if (member === undefined) return true;
    this.count += 1;
    this.first ??= { line: event.seq + 1, offset, member, type: event.type }; // `seq` counts the lines
    return false;
  }

  /** Undefined where no line was left out. */
  defect(): Defect | undefined {
    if (this.first === undefined) return undefined;
    const { line, offset, member, type } = this.first;
    const what = this.count === 1 ? `line ${line} has a member` : `${this.count} lines have members`;
    const which = this.count === 1 ? `(${member} of ${type})` : `(the first is line ${line}: ${member} of ${type})`;
    const left = this.count === 1 ? 'and is left out' : 'and are left out';
    const message = `${what} that this version of mlld can't read ${which} ${left}: a newer mlld may read ${this.count === 1 ? 'it' : 'them'}`;
    return { kind: 'unknown-members', run: this.run, line, offset, message };
  }
}

/** `onOddLines` gets what scans report that report no defects. */
export function reportStore(store: JournalStore, onOddLines?: (defect: Defect) => void): JournalStore {
  const odd = new Set<Workflow>();
  const scan: JournalStore['scan'] = async (ref, visit, options = {}) => {
    const lines = new OddLines(ref);
    const visitFit: typeof visit = (event, position) => {
      if (lines.isFit(event, position)) visit(event, position);
    };
    const report = await store.scan(ref, visitFit, options);
    const defect = lines.defect();
    if (defect === undefined) return report;
    odd.add(ref.workflow);
    (options.onDefect ?? onOddLines)?.(defect);
    return { ...report, defects: report.defects + 1 };
  };
  const { firstEvents, immediate, indexFiles } = store;
  const changes: Partial<JournalStore> = {
    scan,
    readAt: async (ref, position) => fit(await store.readAt(ref, position)),
    ...(immediate && { immediate: { ...immediate, readAt: (ref, position) => fit(immediate.readAt(ref, position)) } }),
    ...(firstEvents && {
      firstEvents: async (workflow, runs) => {
        const events = await firstEvents.call(store, workflow, runs);
        return new Map([...events].filter(([, event]) => fit(event) !== undefined));
      },
    }),
    // REPORT-STORE-2
    writeDerived: async (workflow, name, content) => {
      if (!odd.has(workflow)) await store.writeDerived(workflow, name, content);
    },
    replaceDerived: async (workflow, name, content, beginning) =>
      odd.has(workflow) || (await store.replaceDerived(workflow, name, content, beginning)),
    ...(indexFiles && {
      indexFiles: {
        ...indexFiles,
        write: async (workflow, pieces) => {
          if (odd.has(workflow)) throw new Error('no tier is made of runs of which lines were left out'); // the index is as it was
          return indexFiles.write(workflow, pieces);
        },
        remove: async (workflow, name) => {
          if (!odd.has(workflow)) await indexFiles.remove(workflow, name);
        },
      },
    }),
  };
  return Object.assign(Object.create(store) as JournalStore, changes);
}

function fit(event: JournalEvent | undefined): JournalEvent | undefined {
  return event === undefined || unfitMember(event) !== undefined ? undefined : event;
}
