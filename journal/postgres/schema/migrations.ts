/** Lists the migrations of the schema in order. One that was released is never changed: what follows is a further one. */
import { journalSchema } from './0001-journal.js';
import { salvageSchema } from './0002-salvage.js';
import { claimsSchema } from './0003-claims.js';
import { limitsSchema } from './0004-limits.js';
import { lanesSchema } from './0005-lanes.js';
import { workersSchema } from './workers/0006-workers.js';
import { heldOffersSchema } from './workers/0007-held-offers.js';
import { fairWorkersSchema } from './workers/0008-fair-workers.js';
import { servedRunsSchema } from './workers/0009-served-runs.js';
import { takingSchema } from './workers/0010-taking.js';
import { steadyPlansSchema } from './workers/0011-steady-plans.js';
import { lateEndsSchema } from './0012-late-ends.js';
import { shortAppendsSchema } from './0013-short-appends.js';
import { lateStartsSchema } from './0014-late-starts.js';
import { unknownCostsSchema } from './0015-unknown-costs.js';
import { plainHeadsSchema } from './0016-plain-heads.js';
import { reasonsOfWorkersSchema } from './workers/0017-reasons-of-workers.js';
import { endlessRowsSchema } from './0018-endless-rows.js';
import { takingOverSchema } from './0023-taking-over.js';
import { runsGoneOnWithSchema } from './0025-runs-gone-on-with.js';
import { plainEndsSchema } from './0026-plain-ends.js';
import { wholeBlobsSchema } from './0027-whole-blobs.js';
import { resultsOfOthersSchema } from './0028-results-of-others.js';
import { damagedLinesSchema } from './0029-damaged-lines.js';
import { takingTogetherSchema } from './workers/0019-taking-together.js';
import { endsByPlaceSchema } from './workers/0020-ends-by-place.js';
import { waitingWorkersSchema } from './workers/0021-waiting-workers.js';
import { offeringTogetherSchema } from './workers/0022-offering-together.js';
import { failedEndsSchema } from './workers/0024-failed-ends.js';

export interface Migration {
  /** Counted from 1. */
  readonly version: number;
  readonly title: string;
  /** Statements that are one transaction together. */
  readonly statements: string;
  /** The oldest version of the schema that a program must know to use the store afterwards. */
  readonly minClient: number;
}

export const MIGRATIONS: readonly Migration[] = [
  { version: 1, title: 'tables of the journal, and the functions that write runs', statements: journalSchema, minClient: 1 },
  { version: 2, title: 'salvage runs, and the process that writes a run', statements: salvageSchema, minClient: 1 },
  // A program that appends without swapping its results in would leave a call with two.
  { version: 3, title: 'claims of calls, and one result of each', statements: claimsSchema, minClient: 3 },
  { version: 4, title: 'budgets that all runs of a project share', statements: limitsSchema, minClient: 3 },
  { version: 5, title: 'lanes that all processes of a project share', statements: lanesSchema, minClient: 3 },
  { version: 6, title: 'calls that runs offer, and workers that take them over', statements: workersSchema, minClient: 3 },
  { version: 7, title: 'workers that take no call over which they hold', statements: heldOffersSchema, minClient: 3 },
  { version: 8, title: 'workers that serve runs in equal parts, and their machines', statements: fairWorkersSchema, minClient: 3 },
  { version: 9, title: 'runs of workers that outlive the run that they served', statements: servedRunsSchema, minClient: 3 },
  { version: 10, title: 'offers that workers take, and runs collect, without reading them all', statements: takingSchema, minClient: 3 },
  { version: 11, title: 'plans of offers that no statistics change', statements: steadyPlansSchema, minClient: 3 },
  { version: 12, title: 'costs of attempts whose process had slept', statements: lateEndsSchema, minClient: 3 },
  { version: 13, title: 'appends of fewer statements', statements: shortAppendsSchema, minClient: 3 },
  { version: 14, title: 'costs of attempts that began when their lease was over', statements: lateStartsSchema, minClient: 3 },
  { version: 15, title: 'reservations of attempts whose cost is not known', statements: unknownCostsSchema, minClient: 3 },
  { version: 16, title: 'appends that evaluate no check of the table of runs', statements: plainHeadsSchema, minClient: 3 },
  { version: 17, title: 'reasons of workers that every run can read', statements: reasonsOfWorkersSchema, minClient: 3 },
  { version: 18, title: 'leases that end, and totals that are amounts', statements: endlessRowsSchema, minClient: 3 },
  { version: 19, title: 'offers that workers take together', statements: takingTogetherSchema, minClient: 3 },
  { version: 20, title: 'results of offers that are found by their place', statements: endsByPlaceSchema, minClient: 3 },
  { version: 21, title: 'workers that are there and serve no run', statements: waitingWorkersSchema, minClient: 3 },
  { version: 22, title: 'offers that runs make together', statements: offeringTogetherSchema, minClient: 3 },
  { version: 23, title: 'runs of pipelines that others go on with', statements: takingOverSchema, minClient: 3 },
  {
    version: 24,
    title: 'calls that failed at a worker, and are free when their run hears of it',
    statements: failedEndsSchema,
    minClient: 3,
  },
  { version: 25, title: 'runs that say with which run they go on', statements: runsGoneOnWithSchema, minClient: 3 },
  { version: 26, title: 'appends that only name the lines of first results', statements: plainEndsSchema, minClient: 3 },
  { version: 27, title: 'blobs that are stored again where their rows were changed', statements: wholeBlobsSchema, minClient: 3 },
  {
    version: 28,
    title: 'results in the place of entries that name a run of another workflow',
    statements: resultsOfOthersSchema,
    minClient: 3,
  },
  { version: 29, title: 'lines that are damaged, and fail no statement', statements: damagedLinesSchema, minClient: 3 },
];

/** The version that this program writes. */
export const SCHEMA_VERSION = MIGRATIONS.length;
