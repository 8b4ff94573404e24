/** Loads the details of operations when somebody looks at them, and again when they have changed. */
import type { DetailsSource, PageData, SpanDetails } from '../report/model/page-model.js';
import type { Api } from './api.js';

interface Known {
  readonly version: string;
  readonly details: SpanDetails | null;
}

/** `onLoaded` is called when there is something new to show. Returns a function that makes the source for the latest page. */
export function createLiveDetails(api: Pick<Api, 'operations'>, id: string, onLoaded: () => void): (data: PageData) => DetailsSource {
  const known = new Map<string, Known>();
  const loading = new Set<string>();
  let searched: PageData | undefined;

  return (data) => {
    const { spans } = data.report;
    /** An operation that has not ended has another end with each page. */
    const versionOf = (span: number): string => [spans.state[span], spans.end[span], spans.attempts[span]].join(' ');
    const keyOf = (span: number): string => `${data.report.run} ${spans.op[span]}`;
    const knownDetailsOf = (span: number): SpanDetails | undefined => known.get(keyOf(span))?.details ?? undefined;
    const keep = (span: number, details: SpanDetails | null): void => void known.set(keyOf(span), { version: versionOf(span), details });
    return {
      knownDetailsOf,
      detailsOf(span) {
        const key = keyOf(span);
        if (known.get(key)?.version !== versionOf(span) && !loading.has(key)) {
          loading.add(key);
          void api
            .operations(id, spans.op[span])
            .then(
              ([details = null]) => keep(span, details),
              () => keep(span, known.get(key)?.details ?? null), // the list of runs says that the server does not respond
            )
            .then(() => loading.delete(key))
            .then(onLoaded);
        }
        return knownDetailsOf(span);
      },
      loadTexts() {
        if (searched === data) return;
        searched = data;
        api.operations(id).then(
          (all) => {
            for (const [span, details] of all.slice(0, spans.op.length).entries()) keep(span, details);
            onLoaded();
          },
          () => undefined,
        );
      },
    };
  };
}
