/** Prices the usage of attempts: by what was told, by the prices of the project, and by a table that is loaded at the first need. */
import type { ReportedUsage } from '../replies/reply.js';
import { costOf, costOfReplies, lacksPrice, type CostedUsage, type PriceTable } from './cost.js';
import { ownPrices, type OwnPrice } from './own-prices.js';

export interface Pricing {
  /** Prices of the project's configuration, which come first. */
  readonly own: { readonly [name: string]: OwnPrice };
  readonly loadTable: () => Promise<PriceTable>;
  readonly warn: (message: string) => void;
}

/** `model` is what the command line or the option names, where the reply names none. A call that is paid for never fails for its price. */
export function createPricing({ own, loadTable, warn }: Pricing) {
  const ownTables: readonly PriceTable[] = Object.keys(own).length === 0 ? [] : [ownPrices(own)];
  let loading: Promise<readonly PriceTable[]> | undefined;
  const allTables = async (): Promise<readonly PriceTable[]> => {
    try {
      return [...ownTables, await loadTable()];
    } catch (error) {
      warn(`the table of prices can't be loaded, so that costs which no reply tells are unknown: ${(error as Error).message}`);
      return ownTables;
    }
  };
  return (replies: readonly ReportedUsage[], model: string | undefined): CostedUsage | undefined | Promise<CostedUsage | undefined> => {
    const by = (tables: readonly PriceTable[]) => ({ ...(model !== undefined && { model }), tables });
    const known = by(ownTables);
    if (!replies.some((usage) => lacksPrice(costOf(usage, known), model))) return costOfReplies(replies, known);
    loading ??= allTables();
    return loading.then((tables) => costOfReplies(replies, by(tables)));
  };
}
