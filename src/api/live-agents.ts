import { discoverAgents, type DiscoverOptions, type StampedAgents } from '../agents/discover.ts';
import { agentFilesStamp } from '../agents/stamp.ts';
import { errorMessage } from '../base/errors.ts';
import type { Clock } from '../base/clock.ts';
import type { AgentSource } from '../engine/deps.ts';
import type { AgentDefinition } from '../protocol/agent.ts';
import type { ProjectTrust } from '../sys/project-file.ts';
import { untrustedNotice } from './trust/notice.ts';

/** Milliseconds between two looks at the files: a look at 2,000 of them takes some 20 ms. */
const LOOK_AGAIN_MS = 2_000;

export interface OpenAgentsOptions extends DiscoverOptions {
  /** Whose word counts when files have changed. */
  readonly trustAgain: () => ProjectTrust;
  readonly clock: Clock;
  readonly onNotice: (line: string) => void;
}

/** Loads the agents that can be used in `cwd`, and loads them again when their files change. */
export async function openAgents(options: OpenAgentsOptions): Promise<LiveAgents> {
  const { cwd, environment, trustAgain, dependsOn = [], clock, onNotice } = options;
  return new LiveAgents({
    first: await discoverAgents(options),
    stamp: ({ beside }) => agentFilesStamp(cwd, environment, [...dependsOn, ...beside]),
    load: () => discoverAgents({ ...options, trust: trustAgain() }),
    clock,
    onReload: ({ skipped }) => {
      onNotice('agent files have changed and were read again');
      const untrusted = untrustedNotice({ files: [], skipped });
      if (untrusted !== null) onNotice(untrusted);
    },
    onFault: (thrown) => onNotice(`agent files could not be read again: ${errorMessage(thrown)}`),
  });
}

interface LiveAgentsParts {
  readonly first: StampedAgents;
  /** Of the files of these agents as they are now; changes when one does; cheap. */
  readonly stamp: (agents: StampedAgents) => string;
  readonly load: () => Promise<StampedAgents>;
  readonly clock: Clock;
  /** Told when other agents count than before, once. */
  readonly onReload: (agents: StampedAgents) => void;
  /** Told when they cannot be loaded again; those from before stay. */
  readonly onFault: (thrown: unknown) => void;
}

/** The agents as their files are now. Tasks at work keep the definition they began with. */
export class LiveAgents implements AgentSource {
  readonly #parts: LiveAgentsParts;
  #current: StampedAgents;
  #lookedAt: number;
  #looking: Promise<void> | undefined;

  constructor(parts: LiveAgentsParts) {
    this.#parts = parts;
    this.#current = parts.first;
    this.#lookedAt = parts.clock.monotonic();
  }

  get discovered(): StampedAgents {
    return this.#current;
  }

  agents(): readonly AgentDefinition[] {
    return this.#current.agents;
  }

  /** One look serves all who ask meanwhile. */
  refresh(): Promise<void> {
    this.#looking ??= this.#look().finally(() => {
      this.#looking = undefined;
    });
    return this.#looking;
  }

  async #look(): Promise<void> {
    const { clock, stamp, load, onReload, onFault } = this.#parts;
    const now = clock.monotonic();
    if (now - this.#lookedAt < LOOK_AGAIN_MS) return;
    this.#lookedAt = now;
    try {
      if (stamp(this.#current) === this.#current.stamp) return;
      this.#current = await load();
      onReload(this.#current);
    } catch (thrown) {
      onFault(thrown);
    }
  }
}
