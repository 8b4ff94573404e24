/** Asks the server of a page for the page of a run as it is now, until the run has ended. */

const REST_MS = 1000;
/** A page that takes long to make is asked for less often. */
const REST_FACTOR = 3;
const REST_MAX_MS = 30_000;
const LOST_AFTER = 3;

interface PageListener {
  /** Returns the version of the page, or nothing when the run has ended. The scripts of this document do not run. */
  onPage(page: Document): string | undefined;
  /** Called when the server does not respond any more. */
  onLost(): void;
}

export async function followPage(first: string, { onPage, onLost }: PageListener): Promise<void> {
  let version: string | undefined = first;
  let restMs = REST_MS;
  for (let failed = 0; version !== undefined && failed < LOST_AFTER;) {
    await new Promise((resolve) => setTimeout(resolve, restMs));
    const sinceMs = performance.now();
    try {
      const response: Response = await fetch(location.pathname, { cache: 'no-store', headers: { 'if-none-match': version } });
      if (response.ok) version = onPage(new DOMParser().parseFromString(await response.text(), 'text/html'));
      else if (response.status !== NOT_MODIFIED) throw new Error(response.statusText);
      failed = 0;
    } catch {
      failed += 1;
    }
    restMs = Math.min(Math.max(REST_MS, (performance.now() - sinceMs) * REST_FACTOR), REST_MAX_MS);
  }
  if (version !== undefined) onLost();
}

const NOT_MODIFIED = 304;
