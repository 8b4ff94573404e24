/**
 * Refuses reasons of workers that no run could read. team-store.md 7.1.
 *
 * REASONS-1 A run reads with one statement why workers declined its calls: one row of another shape made it fail, and the run end. Whoever
 *    may write the column, as every worker may, is refused instead. Rows of another shape say nothing, and are emptied.
 */
export const reasonsOfWorkersSchema = `
update mlld.offers set declined = null where jsonb_typeof(declined) <> 'object';
alter table mlld.offers add constraint offers_declined_check check (jsonb_typeof(declined) = 'object');
`;
