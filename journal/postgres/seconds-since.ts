/** SQL of the age of a time, as a float8; null for null. One that never ends, which anybody's SQL may have written, has the age 0. */
export function secondsSince(time: string): string {
  return `(case when ${time} is null then null when isfinite(${time}) then extract(epoch from clock_timestamp() - (${time}))::float8 else 0 end)`;
}
