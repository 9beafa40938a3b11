import { realpathSync, statSync } from 'node:fs';
import { systemErrorCode } from '../base/errors.ts';
import type { AgentDefinition, AgentProblem } from '../protocol/agent.ts';
import type { Environment } from '../sys/env.ts';
import { builtinSources } from './builtin.ts';
import { musterFormat } from './formats/muster.ts';
import type { LoadedAgents } from './formats/format.ts';
import { agentPlaces } from './places.ts';
import type { Place } from './places.ts';
import { readText } from './read-text.ts';
import { walkFiles } from './walk.ts';
import type { FoundFile, SkippedPath } from './walk.ts';

/** Directory entries that one discovery looks at, and bytes that it reads. */
const MAX_ENTRIES = 10_000;
const MAX_BYTES = 256 * 1024 * 1024;

export interface DiscoverOptions {
  /** Absolute. */
  readonly cwd: string;
  readonly environment: Environment;
  /** False: files of the project are listed as skipped, and none is read. */
  readonly trustedProject: boolean;
  /** Agents of `--agents` or of the library's caller: they go before all others. */
  readonly session?: readonly AgentDefinition[];
}

/** An agent whose name another one has that was found before it. */
interface ShadowedAgent {
  readonly agent: AgentDefinition;
  /** The path of the one that counts. */
  readonly by: string;
}

export interface DiscoveredAgents {
  /** In search order; no two of the same name, case ignored. */
  readonly agents: readonly AgentDefinition[];
  readonly shadowed: readonly ShadowedAgent[];
  /** Files that gave no agent, and why: documents, links out of the tree, an untrusted project's. */
  readonly skipped: readonly SkippedPath[];
  /** Files that were meant as agents and could not be loaded. They are in `skipped`, too. */
  readonly problems: readonly AgentProblem[];
}

interface Search {
  readonly found: AgentDefinition[];
  readonly skipped: SkippedPath[];
  readonly problems: AgentProblem[];
  readonly budget: { entries: number; bytes: number };
  readonly trustedProject: boolean;
}

/**
 * All agents that can be used in a directory, in the search order of SPEC "Agent definitions". Never
 * throws for what a file holds; a file that cannot be loaded keeps no other from loading.
 */
export async function discoverAgents(options: DiscoverOptions): Promise<DiscoveredAgents> {
  const search: Search = {
    found: [...(options.session ?? [])],
    skipped: [],
    problems: [],
    budget: { entries: MAX_ENTRIES, bytes: MAX_BYTES },
    trustedProject: options.trustedProject,
  };
  for (const place of agentPlaces(options.cwd, options.environment)) {
    await searchPlace(place, search);
  }
  search.found.push(...(await loadBuiltinAgents()));
  const { skipped, problems } = search;
  return { ...shadow(search.found), skipped, problems };
}

/** The six built-in agents, read from their files as a user's would be. */
export async function loadBuiltinAgents(): Promise<readonly AgentDefinition[]> {
  const loaded = await Promise.all(
    builtinSources().map(({ path, text }) => musterFormat.read({ path, text, scope: 'builtin' })),
  );
  return loaded.flatMap(({ items }) => items);
}

async function searchPlace(place: Place, search: Search): Promise<void> {
  if (!mayExist(place.directory)) return;
  const boundary = realDirectory(place.boundary);
  if (boundary === undefined) return;
  const { accepts } = place.format;
  const walk = walkFiles(place.directory, { accepts, boundary, budget: search.budget });
  search.skipped.push(...walk.skipped);
  for (const file of walk.files) {
    if (place.scope === 'project' && !search.trustedProject) {
      const reason = 'The project is not trusted. Look at the file, then trust the project.';
      search.skipped.push({ path: file.path, code: 'untrusted', reason });
    } else {
      collect(file, await loadFile(file, place, search.budget), search);
    }
  }
}

/** Most places do not exist: this tells so without the cost of an error. */
function mayExist(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch {
    // It is there and cannot be looked at; the walk says why.
    return true;
  }
}

/** Undefined where it does not exist: then nothing in it does. */
function realDirectory(path: string): string | undefined {
  try {
    return realpathSync.native(path);
  } catch (error) {
    if (systemErrorCode(error) === undefined) throw error;
    return undefined;
  }
}

async function loadFile(
  { path, realPath }: FoundFile,
  { format, scope }: Place,
  budget: { bytes: number },
): Promise<LoadedAgents> {
  if (budget.bytes <= 0) {
    const message = `Not read: the agent files before it hold ${MAX_BYTES / 1024 / 1024} MB.`;
    return { items: [], problems: [{ code: 'too-many-bytes', message, path }] };
  }
  const read = readText(realPath);
  if (!read.ok) return { items: [], problems: [{ code: read.code, message: read.reason, path }] };
  budget.bytes -= read.bytes;
  return format.read({ path, scope, text: read.text });
}

function collect(file: FoundFile, { items, problems }: LoadedAgents, search: Search): void {
  search.found.push(...items);
  const [first] = problems;
  if (items.length === 0 && first !== undefined) {
    search.skipped.push({ path: file.path, code: first.code, reason: first.message });
  }
  search.problems.push(...problems.filter(({ code }) => code !== 'not-an-agent'));
}

/** First wins by name, case ignored. */
function shadow(found: readonly AgentDefinition[]): Pick<DiscoveredAgents, 'agents' | 'shadowed'> {
  const agents = new Map<string, AgentDefinition>();
  const shadowed: ShadowedAgent[] = [];
  for (const agent of found) {
    const key = agent.name.toLowerCase();
    const winner = agents.get(key);
    if (winner === undefined) agents.set(key, agent);
    else shadowed.push({ agent, by: winner.origin.path });
  }
  return { agents: [...agents.values()], shadowed };
}
