/**
 * Collects what the body of an attempt reports about its call, from code in this process and from programs. calls.md 9.
 *
 * REPORT-1 Reports are ignored once the attempt has ended.
 * REPORT-2 The file of an attempt is removed when the attempt ends, however it ends.
 */
import type { CallReport } from '../world/world.js';
import type { Attempt } from './attempt.js';
import { headersOf } from './evidence/headers.js';
import { classesOfReports, readFailure, readReportLines, readUsage, type Ignored } from './read-report.js';

/** The folder of report files. */
export interface ReportFolder {
  create(): string;
  /** `isCut`: the file was too large, and these are its last lines. Undefined where it is no file any more. */
  take(file: string): { readonly text: string; readonly isCut?: true } | undefined;
}

export class BodyReport implements CallReport {
  private path: string | undefined;
  private isClosed = false;

  constructor(
    private readonly attempt: Attempt,
    private readonly files: ReportFolder | undefined,
    /** Warns of something that is ignored; `topic` names it, so that it is warned of once. */
    private readonly warn: (topic: string, message: string) => void,
  ) {}

  usage(members: unknown): void {
    if (this.isClosed) return;
    const { value, ignored } = readUsage(members);
    this.warnOf(ignored);
    if (Object.keys(value).length > 0) this.attempt.reportUsage(value);
  }

  headers(headers: unknown): void {
    if (this.isClosed) return;
    const read = headersOf(headers);
    if (read) this.attempt.reportHeaders(read);
    else this.warnOf([{ member: 'headers', why: 'is not a Headers object, a map or an object' }]);
  }

  fail(failureClass: unknown, message: unknown, details: unknown): never {
    const read = readFailure(failureClass, message, details, this.attempt.nowMs());
    if (!read) throw new Error(`mlld.fail: ${noClass(failureClass)}`);
    this.warnOf(read.ignored);
    if (!this.isClosed) this.attempt.reported = read.value;
    throw new Error(`${read.value.class}: ${read.value.message}`);
  }

  file(): string | undefined {
    if (this.isClosed || !this.files) return undefined;
    try {
      return (this.path ??= this.files.create());
    } catch (error) {
      this.warn('file', `programs can't report about their calls: ${(error as Error).message}`);
      return undefined;
    }
  }

  /** Reads what programs have reported. May be called again. */
  close(): void {
    const { path } = this;
    this.path = undefined;
    if (path !== undefined) this.readFile(this.files?.take(path)); // REPORT-2
    this.isClosed = true; // REPORT-1
  }

  private readFile(taken: ReturnType<ReportFolder['take']>): void {
    if (taken === undefined) {
      this.warn('file gone', 'the report file of a call is ignored: it is no file any more');
      return;
    }
    const { text, isCut } = taken;
    if (isCut)
      this.warn('file too large', 'the report file of a call is larger than 1 MiB: of it, only a failure in its last lines counts');
    if (text === '') return;
    for (const line of readReportLines(text)) {
      if (isCut && line.kind !== 'fail') continue; // a part of the usage would be a wrong cost
      if (line.kind === 'usage') this.usage(line.members);
      else if (line.kind === 'headers') this.headers(line.headers);
      else if (line.kind === 'none')
        this.warn('line', 'a line in the report file of a call is ignored: it is not a JSON object with usage, fail or headers');
      else {
        const read = readFailure(line.class, line.message, line.details, this.attempt.nowMs());
        if (read) this.attempt.reported = read.value;
        if (read) this.warnOf(read.ignored);
        else this.warn('class', `a failure that a program reported is ignored: ${noClass(line.class)}`);
      }
    }
  }

  /** Warns of each member once. */
  warnOf(ignored: readonly Ignored[]): void {
    for (const { member, why } of ignored) this.warn(member, `the reported ${member} is ignored: it ${why}`);
  }
}

function noClass(failureClass: unknown): string {
  return `there is no class ${JSON.stringify(failureClass) ?? 'undefined'} (there are ${classesOfReports()})`;
}
