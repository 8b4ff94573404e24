/** Holds the hooks and guards of one run. design.md 2. */
import { GuardRegistry } from '../../guards/registry.js';
import { watchOperation as guardsOf } from '../../guards/stage.js';
import { HookRegistry } from '../../hooks/registry.js';
import { watchOperation as hooksOf } from '../../hooks/stage.js';
import { createTimeLimit } from '../../hooks/time-limit.js';
import type { RunState } from '../../runtime/frame.js';
import type { Interceptors } from '../../runtime/ports.js';

export function createInterceptors(world: RunState['world']): Interceptors {
  const hooks = new HookRegistry();
  const guards = new GuardRegistry();
  const withinLimit = createTimeLimit(world);
  const interceptors: { -readonly [Member in keyof Interceptors]: Interceptors[Member] } = {
    active: false, // a member of its own, because each operation asks for it several times
    hooks: {
      get watchesBatches() {
        return hooks.watchesBatches;
      },
      watch: (operation) => (hooks.isEmpty ? undefined : hooksOf(hooks, withinLimit, operation)),
    },
    guards: { watch: (operation) => (guards.count === 0 ? undefined : guardsOf(guards, operation)) },
    holding: (operation, reach, suppress) => [
      ...guards.holding(operation, reach),
      ...(reach && suppress === 'nothing' ? hooks.transforming(reach) : []),
    ],
    neededBehind(operation, suppress, { reach, labels }) {
      const transforming = suppress === 'nothing' ? hooks.transforming(reach) : [];
      return (
        guards.neededBehind(operation, reach, labels) ?? (transforming.length > 0 ? 'hooks hold for what happens inside it' : undefined)
      );
    },
    guardsByLabel: () => guards.byLabel.map(({ name }) => name),
    registerHook(node, frame) {
      hooks.register(node, frame);
      interceptors.active = true;
    },
    registerGuard(node, frame) {
      guards.register(node, frame);
      interceptors.active = true;
    },
  };
  return interceptors;
}
