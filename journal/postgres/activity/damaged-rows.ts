/** Names rows of shared budgets and lanes that no program of ours has written, and which no report can show as what they are. */
import type { Sql } from '../connection.js';
import { learnedLimitsIn } from '../limits/lane-rows.js';
import { damagedBudgets } from '../limits/shared-budgets.js';

/** Returns a line for each. */
export async function damagedRows(sql: Sql, project: string): Promise<readonly string[]> {
  const budgets = await damagedBudgets(sql, project);
  const lanes = await sql.query(
    `select l.lane, l.limits from mlld.limits l join mlld.projects p using (project_id)
     where p.name = $1 and l.limits is not null order by l.lane collate "C"`,
    [project],
  );
  const damagedLanes = lanes.filter(({ limits }) => learnedLimitsIn(limits) === undefined);
  return [
    ...budgets.map((name) => `the sums of the shared budget ${name} are no amounts: mlld store rebuild makes them anew`),
    ...damagedLanes.map(({ lane }) => `what the shared lane ${String(lane)} has learned can't be read: mlld store rebuild empties it`),
  ];
}
