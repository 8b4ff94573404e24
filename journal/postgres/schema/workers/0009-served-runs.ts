/**
 * The run of a worker outlives the run that it served: it holds results that were paid for, and a garbage collection that is killed has
 * removed the older ones of its runs only. team-store.md 12.
 */
export const servedRunsSchema = `
alter table mlld.runs drop constraint runs_of_run_fkey,
  add constraint runs_of_run_fkey foreign key (of_run) references mlld.runs on delete set null;
`;
