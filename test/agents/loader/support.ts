import type { DefinitionKind } from '../../../src/agents/loader/format.ts';
import { LiveDefinitions } from '../../../src/agents/loader/live-definitions.ts';
import {
  createSearchContext,
  type InstalledPlugin,
} from '../../../src/agents/loader/search-context.ts';
import type { Clock } from '../../../src/base/clock.ts';
import type { Environment } from '../../../src/sys/env.ts';
import { TRUST_ALL } from '../../../src/sys/files/project-file.ts';

/** Live definitions with a clock that moves on by an hour at each check of the files. */
export async function openLive<T extends { readonly name: string }>(
  kind: DefinitionKind<T>,
  at: {
    readonly cwd: string;
    readonly environment: Environment;
    readonly dependsOn?: readonly string[];
    /** Default: there are no plugins. */
    readonly currentPlugins?: () => Promise<readonly InstalledPlugin[]>;
  },
) {
  let now = 0;
  let outcome = 'unchanged';
  const clock: Clock = { now: () => now, monotonic: () => now };
  const { currentPlugins = async () => [] } = at;
  const live = await LiveDefinitions.open(kind, {
    dependsOn: [],
    ...at,
    context: createSearchContext(at.cwd, at.environment, await currentPlugins()),
    currentPlugins,
    trust: TRUST_ALL,
    currentTrust: () => TRUST_ALL,
    clock,
    onReload: () => {
      outcome = 'reloaded';
    },
    onError: (thrown) => {
      outcome = String(thrown);
    },
  });
  return {
    current: () => live.current.items,
    /** Checks the files, and returns the outcome. */
    async check(): Promise<string> {
      now += 3_600_000;
      outcome = 'unchanged';
      await live.refresh();
      return outcome;
    },
  };
}
