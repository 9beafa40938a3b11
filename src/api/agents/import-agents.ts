import { muster } from '../../agents/formats/vendors.ts';
import { isDeepStrictEqual } from 'node:util';
import { join } from 'node:path';
import { AGENTS } from '../../agents/kinds.ts';
import { scanSubtree } from '../../agents/loader/subtree-scan.ts';
import { agentFileName, writeAgent } from '../../agents/write-agent.ts';
import { UsageError } from '../../base/errors.ts';
import type { AgentDefinition, AgentProblem, AgentScope } from '../../protocol/agent.ts';
import { realDirectory } from '../setup/workspace.ts';
import { chooseAgents } from './choose-agents.ts';
import { loadAgents, type AgentsLocation, type LoadedAgents } from './load-agents.ts';
import {
  resolveAgentTarget,
  refuseExistingFiles,
  scopeOfFile,
  writeAgentFile,
  type NewAgentFile,
} from './write-agent-file.ts';

export interface ImportAgentsRequest extends AgentsLocation {
  /** Names of agents and absolute paths of files of any vendor. */
  readonly names: readonly string[];
  /**
   * An absolute directory. Names are those of agents below it; without names all of them are imported.
   */
  readonly dir?: string;
  /** `project`, `user` or a directory. */
  readonly to: string;
  /** The new name of a single agent, or null to keep the name. */
  readonly name: string | null;
  /** True if existing files are replaced. */
  readonly force: boolean;
}

export interface ImportedAgent {
  readonly name: string;
  /** The path of its old file. */
  readonly from: string;
  readonly vendor: string;
  /** The file that was written. */
  readonly path: string;
  /** The scope in which it is found, or null if no search path contains it. */
  readonly scope: AgentScope | null;
  /** Fields without effect in Muster, which were not imported. */
  readonly leftOut: readonly string[];
  /** The problems of the old file. */
  readonly warnings: readonly AgentProblem[];
}

interface Import extends NewAgentFile {
  readonly agent: AgentDefinition;
  readonly leftOut: readonly string[];
}

/**
 * Writes agents of any vendor's files in Muster's own format, all or none of them. Throws UsageError for an existing
 * file, or for an agent that would not be the same afterwards.
 */
export async function importAgents(
  request: ImportAgentsRequest,
): Promise<readonly ImportedAgent[]> {
  const here = await loadAgents(request);
  const target = resolveAgentTarget(request.to, here);
  const agents = await chosenAgents(request, here);
  const imports = await Promise.all(
    agents.map((agent) =>
      planImport(request.name === null ? agent : renamed(agent, request.name), target.directory),
    ),
  );
  refuseSameFile(imports);
  if (!request.force) refuseExistingFiles(imports);
  for (const each of imports) await writeAgentFile(each, target, request);
  return imports.map(({ agent, path, leftOut }) => ({
    name: agent.name,
    from: agent.origin.path,
    vendor: agent.origin.vendor,
    path,
    scope: scopeOfFile(path, here),
    leftOut,
    warnings: agent.problems,
  }));
}

async function chosenAgents(
  { names, dir, name }: ImportAgentsRequest,
  { found }: LoadedAgents,
): Promise<readonly AgentDefinition[]> {
  if (names.length === 0 && dir === undefined) {
    throw new UsageError('name what is to be imported: muster agents import FILE|NAME…, or --dir');
  }
  const from = dir === undefined ? found : await scanSubtree(AGENTS, realDirectory(dir, '--dir'));
  const { agents, problems } = await chooseAgents(names, from);
  const shadowed = new Set(from.shadowed.map(({ item }) => item));
  // Of all below a directory only those that count; a file that was named is meant.
  const chosen = names.length === 0 ? agents.filter((agent) => !shadowed.has(agent)) : agents;
  if (names.length > 0 && problems.length > 0) {
    throw new UsageError(problems.map(({ path, message }) => `${path}: ${message}`).join('\n'));
  }
  if (chosen.length === 0) throw new UsageError('there is no agent to import');
  if (name !== null && chosen.length > 1) {
    throw new UsageError(`--name goes with one agent, and these are ${chosen.length}`);
  }
  return chosen;
}

/**
 * Returns the agent with another name. The aliases of a built-in agent are dropped, since they would apply to the new
 * one, too.
 */
function renamed(agent: AgentDefinition, name: string): AgentDefinition {
  const aliases = agent.origin.scope === 'builtin' ? [] : agent.aliases;
  return { ...agent, name, aliases };
}

async function planImport(agent: AgentDefinition, directory: string): Promise<Import> {
  const { name, origin, unusable } = agent;
  if (unusable !== undefined) {
    throw new UsageError(`${name} (${origin.path}) can't be imported: ${unusable}`);
  }
  const { text, leftOut } = await writeAgent(agent);
  const path = join(directory, agentFileName(name));
  await refuseChange(agent, { path, text });
  return { agent, path, text, leftOut };
}

/** Reads the written text again. Throws UsageError if it is not the same agent. */
async function refuseChange(agent: AgentDefinition, { path, text }: NewAgentFile): Promise<void> {
  const { items } = await muster.agents.read({ path, text, scope: 'user' });
  const before = new Map(acting(agent));
  const after = new Map(acting(items[0] ?? agent));
  const lost = [...new Set([...before.keys(), ...after.keys()])].filter(
    (field) => !isDeepStrictEqual(before.get(field), after.get(field)),
  );
  if (items.length === 1 && lost.length === 0) return;
  throw new UsageError(
    `${agent.name} (${agent.origin.path}) says what Muster's own format has no words for (${lost.join(', ')}), so it would act differently; use that file as it is`,
  );
}

/** Returns the fields that must be the same, without those about the file. */
function acting(agent: AgentDefinition): readonly (readonly [field: string, value: unknown])[] {
  const ignored = new Set(['origin', 'problems', 'extra', 'permissionMode']);
  return Object.entries(agent).filter(([field]) => !ignored.has(field));
}

function refuseSameFile(files: readonly Import[]): void {
  for (const [path, same] of Map.groupBy(files, (each) => each.path)) {
    if (same.length < 2) continue;
    const from = same.map(({ agent }) => agent.origin.path).join(', ');
    throw new UsageError(
      `${from} would all be written to ${path}; import them one by one, with --name`,
    );
  }
}
