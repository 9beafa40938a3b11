import {
  discoverAgents,
  type DiscoverOptions,
  type StampedAgents,
} from '../agents/loader/discover.ts';
import { agentFilesStamp } from '../agents/agent-files.ts';
import { discoverSkills, type StampedSkills } from '../agents/skills/discover.ts';
import { skillFilesStamp } from '../agents/skills/files.ts';
import { surroundingsOf, type Surroundings } from '../agents/loader/search-context.ts';
import type { SkippedPath } from '../agents/loader/walk.ts';
import { errorMessage } from '../base/errors.ts';
import type { Clock } from '../base/clock.ts';
import type { ProjectTrust } from '../sys/project-file.ts';
import { untrustedNotice } from './trust/notice.ts';

/** Milliseconds between two looks at the files: a look at 2,000 of them takes some 20 ms. */
const LOOK_AGAIN_MS = 2_000;

export interface OpenOptions extends Omit<DiscoverOptions, 'around'> {
  /** As it is now. */
  readonly around: Surroundings;
  /** Whose word counts when files have changed. */
  readonly trustAgain: () => ProjectTrust;
  readonly clock: Clock;
  readonly onNotice: (line: string) => void;
}

export type LiveAgents = LiveFiles<StampedAgents>;
export type LiveSkills = LiveFiles<StampedSkills>;

/** Loads the agents that can be used in `cwd`, and loads them again when their files change. */
export function openAgents(options: OpenOptions): Promise<LiveAgents> {
  const { dependsOn = [] } = options;
  return openFiles('agent', options, {
    load: (at) => discoverAgents({ ...options, ...at }),
    stamp: ({ beside }, around) => agentFilesStamp(around, [...dependsOn, ...beside]),
  });
}

/** The same for skills. */
export function openSkills(options: OpenOptions): Promise<LiveSkills> {
  const { cwd, environment, dependsOn = [] } = options;
  return openFiles('skill', options, {
    load: (at) => discoverSkills({ cwd, environment, dependsOn, ...at }),
    stamp: (_, around) => skillFilesStamp(around, dependsOn),
  });
}

/** What files held, with a stamp of them as they were then. */
interface StampedFiles {
  readonly stamp: string;
  readonly skipped: readonly SkippedPath[];
}

/** When files are looked at: what lies where, and whose word counts. */
interface Moment {
  readonly around: Surroundings;
  readonly trust: ProjectTrust;
}

interface FileKind<Found extends StampedFiles> {
  readonly load: (at: Moment) => Promise<Found>;
  /** Of the files as they are now; changes when one does; cheap. */
  readonly stamp: (found: Found, around: Surroundings) => string;
}

async function openFiles<Found extends StampedFiles>(
  kind: 'agent' | 'skill',
  { cwd, environment, around, trust, trustAgain, clock, onNotice }: OpenOptions,
  { load, stamp }: FileKind<Found>,
): Promise<LiveFiles<Found>> {
  const aroundNow = () => surroundingsOf(cwd, environment);
  return new LiveFiles({
    first: await load({ around, trust }),
    stamp: (found) => stamp(found, aroundNow()),
    load: () => load({ around: aroundNow(), trust: trustAgain() }),
    clock,
    onReload: ({ skipped }) => {
      onNotice(`${kind} files have changed and were read again`);
      const untrusted = untrustedNotice({ files: [], skipped });
      if (untrusted !== null) onNotice(untrusted);
    },
    onFault: (thrown) => onNotice(`${kind} files could not be read again: ${errorMessage(thrown)}`),
  });
}

interface LiveFilesParts<Found> {
  readonly first: Found;
  readonly stamp: (found: Found) => string;
  readonly load: () => Promise<Found>;
  readonly clock: Clock;
  /** Told when others count than before, once. */
  readonly onReload: (found: Found) => void;
  /** Told when they cannot be loaded again; those from before stay. */
  readonly onFault: (thrown: unknown) => void;
}

/** What files hold as they are now. Tasks at work keep the definition they began with. */
export class LiveFiles<Found extends StampedFiles> {
  readonly #parts: LiveFilesParts<Found>;
  #current: Found;
  #lookedAt: number;
  #looking: Promise<void> | undefined;

  constructor(parts: LiveFilesParts<Found>) {
    this.#parts = parts;
    this.#current = parts.first;
    this.#lookedAt = parts.clock.monotonic();
  }

  get discovered(): Found {
    return this.#current;
  }

  /** Looks whether files have changed, now and then; one look serves all who ask meanwhile. Never rejects. */
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
