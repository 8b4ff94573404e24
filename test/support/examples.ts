/** Returns `usual`, or `all` with MLLD_TEST_ALL=1: a slow property is tried with fewer random examples in every run of the tests. */
export function examples(usual: number, all: number): number {
  return process.env['MLLD_TEST_ALL'] === '1' ? all : usual;
}
