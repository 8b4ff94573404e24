/** Holds the dispatchers of the child runs that have not ended. */
import type { RunInside } from './ports.js';
import type { Stop } from './stop.js';

export class InnerRuns extends Set<RunInside> {
  get isActive(): boolean {
    for (const child of this) if (child.isActive()) return true;
    return false;
  }

  get isPaying(): boolean {
    for (const child of this) if (child.isPaying()) return true;
    return false;
  }

  stop(stop: Stop): void {
    for (const child of this) child.stop(stop);
  }
}
