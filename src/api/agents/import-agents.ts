import { muster } from '../../agents/formats/vendors.ts';
import { isDeepStrictEqual } from 'node:util';
import { join } from 'node:path';
import { AGENTS } from '../../agents/kinds.ts';
import { scanSubtree } from '../../agents/loader/subtree-scan.ts';
import { agentFileName, writeAgent } from '../../agents/write-agent.ts';
import { UsageError } from '../../base/errors.ts';
import type { AgentDefinition, AgentProblem, AgentScope } from '../../protocol/agent.ts';
import { resolveDirectory } from '../setup/workspace.ts';
import { chooseAgents } from './choose-agents.ts';
import { loadAgents, type AgentsLocation, type LoadedAgents } from './load-agents.ts';
import {
  resolveAgentTarget,
  refuseExistingFiles,
  findFileScope,
  writeAgentFile,
  type NewAgentFile,
} from './write-agent-file.ts';

export interface ImportAgentsRequest extends AgentsLocation {
  /** Names of agents and absolute paths of files of any vendor. */
  readonly names: readonly string[];
  /**
   * An absolute directory. If it is set, `names` refers to agents below it; without names, all agents below it are
   * imported.
   */
  readonly dir?: string;
  /** `project`, `user` or a directory. */
  readonly to: string;
  /** The new name of the agent, if only one is imported; null to keep the name. */
  readonly name: string | null;
  /** True to replace existing files. */
  readonly force: boolean;
}

export interface ImportedAgent {
  readonly name: string;
  /** The path of the file from which it was imported. */
  readonly from: string;
  readonly vendor: string;
  /** The file that was written. */
  readonly path: string;
  /** The scope in which the agent is found, or null if no search path contains its file. */
  readonly scope: AgentScope | null;
  /** Names of fields that were not imported, because they have no effect in Muster. */
  readonly leftOut: readonly string[];
  /** The problems of the original file. */
  readonly warnings: readonly AgentProblem[];
}

interface PlannedImport extends NewAgentFile {
  readonly agent: AgentDefinition;
  readonly leftOut: readonly string[];
}

/**
 * Converts agents from the files of any vendor to files in Muster's format, all or none of them. Throws UsageError if a
 * file already exists, or if an agent would differ from the original.
 */
export async function importAgents(
  request: ImportAgentsRequest,
): Promise<readonly ImportedAgent[]> {
  const loadedAgents = await loadAgents(request);
  const target = resolveAgentTarget(request.to, loadedAgents);
  const agents = await selectAgents(request, loadedAgents);
  const imports = await Promise.all(
    agents.map((agent) =>
      planImport(
        request.name === null ? agent : renameAgent(agent, request.name),
        target.directory,
      ),
    ),
  );
  refuseSamePath(imports);
  if (!request.force) refuseExistingFiles(imports);
  for (const each of imports) await writeAgentFile(each, target, request);
  return imports.map(({ agent, path, leftOut }) => ({
    name: agent.name,
    from: agent.origin.path,
    vendor: agent.origin.vendor,
    path,
    scope: findFileScope(path, loadedAgents),
    leftOut,
    warnings: agent.problems,
  }));
}

async function selectAgents(
  { names, dir, name }: ImportAgentsRequest,
  { discovery }: LoadedAgents,
): Promise<readonly AgentDefinition[]> {
  if (names.length === 0 && dir === undefined) {
    throw new UsageError('nothing to import: name files or agents, or use --dir');
  }
  const source =
    dir === undefined ? discovery : await scanSubtree(AGENTS, resolveDirectory(dir, '--dir'));
  const { agents, problems } = await chooseAgents(names, source);
  const shadowed = new Set(source.shadowed.map(({ item }) => item));
  // Without names, import only agents that are not shadowed. With names, import every named agent.
  const chosen = names.length === 0 ? agents.filter((agent) => !shadowed.has(agent)) : agents;
  if (names.length > 0 && problems.length > 0) {
    throw new UsageError(problems.map(({ path, message }) => `${path}: ${message}`).join('\n'));
  }
  if (chosen.length === 0) throw new UsageError('there is no agent to import');
  if (name !== null && chosen.length > 1) {
    throw new UsageError(`--name can only be used with one agent, not with ${chosen.length}`);
  }
  return chosen;
}

/**
 * Returns the agent with another name. Drops the aliases of a built-in agent, because they would then also refer to the
 * new agent.
 */
function renameAgent(agent: AgentDefinition, name: string): AgentDefinition {
  const aliases = agent.origin.scope === 'builtin' ? [] : agent.aliases;
  return { ...agent, name, aliases };
}

async function planImport(agent: AgentDefinition, directory: string): Promise<PlannedImport> {
  const { name, origin, unusable } = agent;
  if (unusable !== undefined) {
    throw new UsageError(`${name} (${origin.path}) cannot be imported: ${unusable}`);
  }
  const { text, leftOut } = await writeAgent(agent);
  const path = join(directory, agentFileName(name));
  await refuseChanged(agent, { path, text });
  return { agent, path, text, leftOut };
}

/** Parses the new text. Throws UsageError if the result differs from the original agent. */
async function refuseChanged(agent: AgentDefinition, { path, text }: NewAgentFile): Promise<void> {
  const { items } = await muster.agents.read({ path, text, scope: 'user' });
  const before = new Map(listFields(agent));
  const after = new Map(listFields(items[0] ?? agent));
  const changed = [...new Set([...before.keys(), ...after.keys()])].filter(
    (field) => !isDeepStrictEqual(before.get(field), after.get(field)),
  );
  if (items.length === 1 && changed.length === 0) return;
  throw new UsageError(
    `${agent.name} (${agent.origin.path}) has fields that Muster's format cannot express (${changed.join(', ')}), so the imported agent would act differently: use the original file`,
  );
}

/** Lists the fields that must not change, without the fields that describe the file. */
function listFields(agent: AgentDefinition): readonly (readonly [field: string, value: unknown])[] {
  const ignored = new Set(['origin', 'problems', 'extra', 'permissionMode']);
  return Object.entries(agent).filter(([field]) => !ignored.has(field));
}

function refuseSamePath(files: readonly PlannedImport[]): void {
  for (const [path, namesakes] of Map.groupBy(files, (each) => each.path)) {
    if (namesakes.length < 2) continue;
    const from = namesakes.map(({ agent }) => agent.origin.path).join(', ');
    throw new UsageError(
      `${from} would all be written to ${path}: import them one by one with --name`,
    );
  }
}
