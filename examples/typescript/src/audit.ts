/** Lists the faults of each berth, ranks them, and writes the report once. */
import { appendFile } from 'node:fs/promises';
import { workflow } from 'mlld';
import { complete } from './client.ts';

type Fault = { readonly berth: string; readonly fault: string; readonly rank: number };

export default workflow('berth-audit', async (ctx, { berths }: { readonly berths: readonly string[] }) => {
  const ask = (name: string, prompt: string): Promise<string> =>
    ctx.llm(name, [prompt], async (text) => {
      const { text: reply, inputTokens, outputTokens } = await complete(text, { key: ctx.key, signal: ctx.signal });
      ctx.usage({ inputTokens, outputTokens });
      return reply;
    });

  const found = await ctx.parallel(berths, async (berth) => {
    const list = await ask('look', `List the faults of berth ${berth}.`);
    return list.split('; ').map((fault) => ({ berth, fault }));
  });
  await ctx.checkpoint('looked');

  const ranked = await ctx.parallel(found.flat(), async ({ berth, fault }): Promise<Fault> => {
    const rank = Number(await ask('rank', `How bad, from 0 to 9, is ${fault} at berth ${berth}?`));
    return { berth, fault, rank };
  });
  const worst = ranked.toSorted((one, other) => other.rank - one.rank);

  await ctx.step('report', [worst], async () => {
    await appendFile('report.md', worst.map(({ berth, fault, rank }) => `- ${berth}: ${fault} (${rank})\n`).join(''));
  });
  return worst.slice(0, 3);
});
