/**
 * Says which workers are there, also those that serve no run. team-store.md 14.
 *
 * WAITING-WORKERS-1 The table decides nothing: calls are claimed by the runs of workers. It can be emptied at any time, and each
 *    worker makes its row again.
 * WAITING-WORKERS-2 A worker may be there before the first run of its project, which is why a row has the name of the project.
 */
export const waitingWorkersSchema = `
create table mlld.workers (
  worker_id uuid primary key,
  project text not null,
  worker jsonb not null,
  host text not null,
  pid int not null,
  lease_s int not null,
  lease_until timestamptz not null
);
create index workers_project on mlld.workers (project);
`;
