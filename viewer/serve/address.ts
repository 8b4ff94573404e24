/** The address of a run is `/runs/ID`; what is shown of it is behind the `#`, as in the page that `mlld journal report` makes. */

/** Returns the chosen run, or nothing. An older form of the address, `/#ID`, is brought into the new one. */
export function chosenRun(): string | undefined {
  const [, old] = /^#(\d{8}-\d{6}-[\w-]+)$/.exec(location.hash) ?? [];
  if (old !== undefined) history.replaceState(undefined, '', addressOf(old));
  return /^\/runs\/([\w-]+)$/.exec(location.pathname)?.[1];
}

export function addressOf(id: string): string {
  return `/runs/${id}`;
}

const START = '/start';

export function isStart(): boolean {
  return location.pathname === START;
}

export const TEAM = '/team';

/** True for the page over the runs of everybody, and for that of one of them. */
export function isTeam(): boolean {
  return location.pathname === TEAM || runOfTeam() !== undefined;
}

/** The run of any workflow whose page is shown. */
export function runOfTeam(): string | undefined {
  return /^\/team\/runs\/([\w-]+)$/.exec(location.pathname)?.[1];
}

export function addressOfAnyRun(id: string): string {
  return `${TEAM}/runs/${id}`;
}

/** The address of the start form, for a pipeline of the project. */
export function startAddress(file = ''): string {
  return file === '' ? START : `${START}#file=${encodeURIComponent(file)}`;
}

/** The pipeline that the address of the start form names. */
export function fileToStart(): string {
  return new URLSearchParams(location.hash.slice(1)).get('file') ?? '';
}

/** Shows another run without loading the page again. */
export function goTo(id: string): void {
  goToAddress(addressOf(id));
}

/** Follows a link without loading the page again, unless it is opened elsewhere. */
export function stay(event: MouseEvent, address: string): void {
  if (event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  goToAddress(address);
}

function goToAddress(address: string): void {
  history.pushState(undefined, '', address);
  dispatchEvent(new PopStateEvent('popstate'));
}
