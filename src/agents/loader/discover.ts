import { withLayers } from '../merge-layers.ts';
import { musterFormat } from '../formats/vendors.ts';
import type { AgentDefinition } from '../../protocol/agent.ts';
import type { Environment } from '../../sys/env.ts';
import { openProjectFiles, type ProjectFiles, type ProjectTrust } from '../../sys/project-file.ts';
import { readBeside } from './referenced-files.ts';
import { builtinSources } from '../builtin.ts';
import type { LoadedAgents, TextBeside } from './kind.ts';
import { filesIn, MAX_ENTRIES, type FileSearch } from './list-files.ts';
import { agentPlaces } from './search-paths.ts';
import type { Place } from '../place.ts';
import { newStamp, type Stamp } from './fingerprint.ts';
import { surroundingsOf, type Surroundings } from './search-context.ts';
import { projectText, UNTRUSTED, type FileText } from '../place-text.ts';
import { MAX_AGENT_BYTES, readText } from './read-text.ts';
import { collect, shadow, type DiscoveredAgents, type Found } from './discovery-result.ts';

/** Bytes that one discovery reads. */
const MAX_BYTES = 256 * 1024 * 1024;

export interface DiscoverOptions {
  /** Absolute. */
  readonly cwd: string;
  readonly environment: Environment;
  /** Which files of the project may act. The others are listed as skipped, and not parsed. */
  readonly trust: ProjectTrust;
  /** Agents of `--agents` or of the library's caller: they go before all others. */
  readonly session?: readonly AgentDefinition[];
  /** Paths on which it depends beside the agent files: for the stamp. */
  readonly dependsOn?: readonly string[];
  /** What lies around `cwd`, where it is known already as it is now. */
  readonly around?: Surroundings;
}

/** With a stamp (`agentFilesStamp`) of the files as they were then. */
export interface StampedAgents extends DiscoveredAgents {
  readonly stamp: string;
  /** Files that prompts were read from, on which the stamp depends, too. */
  readonly beside: readonly string[];
}

interface Search extends Found, FileSearch {
  readonly budget: { entries: number; bytes: number };
  readonly files: ProjectFiles;
  readonly stamp: Stamp;
  readonly beside: Set<string>;
  /** Paths that have been told of: a file may be an agent's, and named by others, too. */
  readonly untrusted: Set<string>;
}

/**
 * All agents that can be used in a directory, in the search order of docs/agents.md. Never
 * throws for what a file holds; a file that cannot be loaded keeps no other from loading.
 */
export async function discoverAgents(options: DiscoverOptions): Promise<StampedAgents> {
  const around = options.around ?? surroundingsOf(options.cwd, options.environment);
  using files = openProjectFiles(options.trust);
  const search: Search = {
    agents: [...(options.session ?? [])],
    skipped: [],
    problems: [],
    looks: around.looks,
    budget: { entries: MAX_ENTRIES, bytes: MAX_BYTES },
    files,
    stamp: newStamp(),
    beside: new Set(),
    untrusted: new Set(),
  };
  for (const place of agentPlaces(around)) {
    await searchPlace(place, search);
  }
  search.agents.push(...(await loadBuiltinAgents()));
  const beside = [...search.beside];
  const stamp = search.stamp.text([...(options.dependsOn ?? []), ...beside]);
  return { ...shadow({ ...search, agents: withLayers(search.agents) }), stamp, beside };
}

/** The six built-in agents, read from their files as a user's would be. */
export async function loadBuiltinAgents(): Promise<readonly AgentDefinition[]> {
  const loaded = await Promise.all(
    builtinSources().map(({ path, text }) => musterFormat.read({ path, text, scope: 'builtin' })),
  );
  return loaded.flatMap(({ items }) => items);
}

async function searchPlace(place: Place, search: Search): Promise<void> {
  const found = filesIn(place, search);
  if (found === undefined) return;
  search.stamp.add(found);
  search.skipped.push(...found.skipped);
  for (const file of found.files) {
    const { path } = file;
    const text = readWithin(search.budget, () =>
      place.scope === 'project'
        ? projectFile(path, found.boundary, search)
        : readText(file.realPath),
    );
    if (text.ok) search.budget.bytes -= text.bytes;
    if (!text.ok && UNTRUSTED.has(text.code)) {
      skipUntrusted(path, text, search);
    } else {
      const beside = (named: string): TextBeside =>
        textBeside(named, place, search, found.boundary);
      collect(path, await parse(path, place, text, beside), search);
    }
  }
}

function projectFile(path: string, boundary: string, search: Search): FileText {
  const request = { kind: 'agent', path, boundary, maxBytes: MAX_AGENT_BYTES } as const;
  return projectText(search.files.read(request));
}

/** What an agent file names is read under the same trust. */
function textBeside(path: string, place: Place, search: Search, boundary: string): TextBeside {
  search.beside.add(path);
  const text = readWithin(search.budget, () =>
    readBeside(
      path,
      boundary,
      place.scope === 'project' ? () => projectFile(path, boundary, search) : undefined,
    ),
  );
  if (text.ok) search.budget.bytes -= text.bytes;
  else if (UNTRUSTED.has(text.code)) skipUntrusted(path, text, search);
  return text;
}

function skipUntrusted(
  path: string,
  { code, reason }: Exclude<FileText, { ok: true }>,
  { untrusted, skipped }: Search,
): void {
  if (untrusted.has(path)) return;
  untrusted.add(path);
  skipped.push({ path, code, reason });
}

function readWithin(budget: { readonly bytes: number }, read: () => FileText): FileText {
  if (budget.bytes > 0) return read();
  const reason = `Not read: the agent files before it hold ${MAX_BYTES / 1024 / 1024} MB.`;
  return { ok: false, code: 'too-many-bytes', reason };
}

async function parse(
  path: string,
  { format, scope }: Place,
  text: FileText,
  beside: (path: string) => TextBeside,
): Promise<LoadedAgents> {
  return text.ok
    ? format.read({ path, scope, text: text.text, beside })
    : { items: [], problems: [{ code: text.code, message: text.reason, path }] };
}
