/** Starts an attempt in a lane that all processes of a project share. team-store.md 8. */
import type { LaneSharing } from '../lanes/lane-sharing.js';
import type { StartRequest } from './lane.js';
import type { Started } from './ports.js';

interface StartPorts {
  readonly sharing: LaneSharing;
  /** Starts it as far as this process knows. */
  readonly start: (request: StartRequest) => Started | Promise<Started>;
  /** Takes it back, and starts it anew: its place may be another one's by then. */
  readonly startAgain: (started: Started, request: StartRequest) => Started | Promise<Started>;
  readonly monotonicMs: () => number;
}

/** A start that others were quicker than is taken back, and then goes before the others that wait here. */
export async function startForAll(request: StartRequest, { sharing, start, startAgain, monotonicMs }: StartPorts): Promise<Started> {
  const sinceMs = monotonicMs();
  let started = await start(request);
  if (await sharing.take(started.lane, started.start)) return started;
  do started = await startAgain(started, { ...request, isRetry: true });
  while (!(await sharing.take(started.lane, started.start)));
  return { ...started, waitedMs: Math.round(monotonicMs() - sinceMs) };
}
