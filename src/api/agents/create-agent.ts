import { dropMissing } from '../../base/drop-missing.ts';
import { muster } from '../../agents/formats/vendors.ts';
import { join } from 'node:path';
import { loadExampleAgent } from '../../agents/builtin.ts';
import { lookUpAgent } from '../../agents/find-agent.ts';
import type { Finding } from '../../agents/lint/findings.ts';
import { agentFileName, writeAgent } from '../../agents/write-agent.ts';
import { UsageError, errorMessage } from '../../base/errors.ts';
import type { AgentDefinition, AgentScope } from '../../protocol/agent.ts';
import { requireAgent, loadAgents, type LoadedAgents, type AgentsLocation } from './load-agents.ts';
import {
  resolveAgentTarget,
  refuseExistingFiles,
  findFileScope,
  writeAgentFile,
} from './write-agent-file.ts';
import { decodeUtf8, MAX_DEFINITION_BYTES } from '../../agents/loader/read-text.ts';
import { readNamedFile } from '../../sys/files/named-file.ts';
import { createAgentLinter } from './agent-linter.ts';

/**
 * The description of a new agent. A field that is null is taken from the agent `from`; without `from`, it has its
 * default.
 */
export interface NewAgent {
  readonly name: string;
  readonly description: string | null;
  /** The tools, written as in a file: `Read, Grep`, or `*`. */
  readonly tools: string | null;
  readonly model: string | null;
  /** The name of a permission mode. */
  readonly mode: string | null;
  readonly prompt: string | null;
  /** The name of the agent or example on which the new agent is based. */
  readonly from: string | null;
}

export interface CreateAgentRequest extends AgentsLocation {
  readonly newAgent: NewAgent;
  /** `project`, `user` or a directory. */
  readonly to: string;
  readonly force: boolean;
}

export interface CreatedAgent {
  readonly name: string;
  readonly path: string;
  /** The scope in which the agent is found, or null if no search path contains its file. */
  readonly scope: AgentScope | null;
  /** Findings of the check that do not prevent the creation. */
  readonly findings: readonly Finding[];
}

/**
 * Codes of findings that do not prevent the creation, because a person may correct them later or cannot influence them.
 */
const ACCEPTED_FINDINGS: ReadonlySet<string> = new Set([
  'unknown-agent',
  'unknown-model',
  'replaces-built-in',
]);

/**
 * Writes a new agent. If `muster agents check` would report a mistake in it, throws UsageError that says what to
 * change, and writes nothing.
 */
export async function createAgent(request: CreateAgentRequest): Promise<CreatedAgent> {
  const loadedAgents = await loadAgents(request);
  const target = resolveAgentTarget(request.to, loadedAgents);
  const path = join(target.directory, agentFileName(request.newAgent.name));
  const agent = await parseNewAgent(request.newAgent, path, loadedAgents);
  const findings = await lintNewAgent(agent, loadedAgents);
  const mistakes = findings.filter(
    ({ code, severity }) => severity !== 'note' && !ACCEPTED_FINDINGS.has(code),
  );
  if (mistakes.length > 0) {
    throw new UsageError(
      mistakes.map(({ message, fix }) => (fix === null ? message : `${message} ${fix}`)).join('\n'),
    );
  }
  const file = { path, text: (await writeAgent(agent)).text };
  if (!request.force) refuseExistingFiles([file]);
  await writeAgentFile(file, target, request);
  return { name: agent.name, path, scope: findFileScope(path, loadedAgents), findings };
}

/**
 * Returns the requested agent. Its fields are parsed in the same way as a file, and combined with the agent on which it
 * is based.
 */
async function parseNewAgent(
  newAgent: NewAgent,
  path: string,
  { discovery }: LoadedAgents,
): Promise<AgentDefinition> {
  const base = newAgent.from === null ? null : await findBaseAgent(newAgent.from, discovery);
  const fields = {
    name: newAgent.name,
    description: newAgent.description ?? base?.description,
    tools: newAgent.tools ?? undefined,
    model: newAgent.model ?? undefined,
    'permission-mode': newAgent.mode ?? undefined,
  };
  // JSON is also valid YAML.
  const text = `---\n${JSON.stringify(fields)}\n---\n\n${newAgent.prompt ?? base?.prompt ?? ''}\n`;
  const { items, problems } = await muster.agents.read({ path, text, scope: 'user' });
  const [requested] = items;
  if (requested === undefined)
    throw new UsageError(problems.map(({ message }) => message).join('\n'));
  return base === null ? requested : mergeWithBase(base, requested, newAgent);
}

/**
 * Finds the agent on which the new agent is based. An agent that can be used takes precedence over an example of the
 * same name.
 */
async function findBaseAgent(
  name: string,
  discovery: LoadedAgents['discovery'],
): Promise<AgentDefinition> {
  const example =
    lookUpAgent(name, discovery.items) === undefined ? await loadExampleAgent(name) : undefined;
  return example ?? requireAgent(name, discovery);
}

/** Combines the fields of the request with the fields of the base agent, except its aliases. */
function mergeWithBase(
  base: AgentDefinition,
  requested: AgentDefinition,
  newAgent: NewAgent,
): AgentDefinition {
  const {
    tools: _tools,
    delegatesTo: _delegatesTo,
    unusable: _unusable,
    model: _model,
    models: _models,
    ...rest
  } = base;
  const { mode, permissionMode } = newAgent.mode === null ? base : requested;
  const { model, models } = newAgent.model === null ? base : requested;
  return {
    ...rest,
    ...pickToolFields(newAgent.tools === null ? base : requested),
    ...dropMissing({ model, models }),
    aliases: [],
    name: requested.name,
    description: requested.description,
    prompt: requested.prompt,
    mode,
    permissionMode,
    origin: requested.origin,
    extra: {},
    problems: requested.problems,
  };
}

function pickToolFields({ tools, delegatesTo, unusable }: AgentDefinition) {
  return { tools, ...dropMissing({ delegatesTo, unusable }) };
}

async function lintNewAgent(
  agent: AgentDefinition,
  loadedAgents: LoadedAgents,
): Promise<readonly Finding[]> {
  const lint = await createAgentLinter(loadedAgents);
  const namesakes = loadedAgents.discovery.items.filter(
    ({ name }) => name.toLowerCase() === agent.name.toLowerCase(),
  );
  return lint(agent, {
    text: null,
    secretSource: (await writeAgent(agent)).text,
    delegates: [agent, ...loadedAgents.discovery.items],
    shadowedBy: null,
    clash: null,
    shadows: namesakes.filter(({ origin }) => origin.path !== agent.origin.path),
  });
}

/**
 * Reads the file or pipe of `--prompt-file`. It may be as large as the file of an agent. Throws UsageError if it cannot
 * be read.
 */
export async function readPromptFile(path: string): Promise<string> {
  const bytes = await readNamedFile(path, { maxBytes: MAX_DEFINITION_BYTES }).catch(
    (thrown: unknown) => {
      throw new UsageError(`--prompt-file ${errorMessage(thrown)}`, { cause: thrown });
    },
  );
  const text = decodeUtf8(bytes);
  if (!text.ok) throw new UsageError(`--prompt-file ${path}: ${text.reason}`);
  return text.text;
}
