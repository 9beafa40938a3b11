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
  scopeOfFile,
  writeAgentFile,
} from './write-agent-file.ts';
import { decodeUtf8, MAX_DEFINITION_BYTES } from '../../agents/loader/read-text.ts';
import { readNamedFile } from '../../sys/files/named-file.ts';
import { createAgentLinter } from './agent-linter.ts';

/**
 * The description of a new agent. A null field is taken from `from`, or else has the default of agents.
 */
export interface NewAgent {
  readonly name: string;
  readonly description: string | null;
  /** The tools as a file names them: `Read, Grep`, or `*`. */
  readonly tools: string | null;
  readonly model: string | null;
  /** The name of a permission mode. */
  readonly mode: string | null;
  readonly prompt: string | null;
  /** The name of an agent, or of an example, on which it is based. */
  readonly from: string | null;
}

export interface CreateAgentRequest extends AgentsLocation {
  readonly wish: NewAgent;
  /** `project`, `user` or a directory. */
  readonly to: string;
  readonly force: boolean;
}

export interface CreatedAgent {
  readonly name: string;
  readonly path: string;
  /** The scope in which it is found, or null if no search path contains it. */
  readonly scope: AgentScope | null;
  /** Findings that are no mistakes. */
  readonly findings: readonly Finding[];
}

/**
 * Findings that are no mistake in the request, because a person may correct them later or cannot influence them.
 */
const NO_MISTAKE: ReadonlySet<string> = new Set([
  'unknown-agent',
  'unknown-model',
  'replaces-built-in',
]);

/**
 * Writes a new agent. If `muster agents check` would complain about it, throws UsageError that says what to change,
 * and writes nothing.
 */
export async function createAgent(request: CreateAgentRequest): Promise<CreatedAgent> {
  const here = await loadAgents(request);
  const target = resolveAgentTarget(request.to, here);
  const path = join(target.directory, agentFileName(request.wish.name));
  const agent = await requestedAgent(request.wish, path, here);
  const findings = await lintNew(agent, here);
  const mistakes = findings.filter(
    ({ code, severity }) => severity !== 'note' && !NO_MISTAKE.has(code),
  );
  if (mistakes.length > 0) {
    throw new UsageError(
      mistakes.map(({ message, fix }) => (fix === null ? message : `${message} ${fix}`)).join('\n'),
    );
  }
  const file = { path, text: (await writeAgent(agent)).text };
  if (!request.force) refuseExistingFiles([file]);
  await writeAgentFile(file, target, request);
  return { name: agent.name, path, scope: scopeOfFile(path, here), findings };
}

/**
 * Returns the agent of the request, read as if from a file, on top of the agent on which it is based.
 */
async function requestedAgent(
  wish: NewAgent,
  path: string,
  { found }: LoadedAgents,
): Promise<AgentDefinition> {
  const base = wish.from === null ? null : await agentToBeginWith(wish.from, found);
  const fields = {
    name: wish.name,
    description: wish.description ?? base?.description,
    tools: wish.tools ?? undefined,
    model: wish.model ?? undefined,
    'permission-mode': wish.mode ?? undefined,
  };
  // JSON is YAML, too.
  const text = `---\n${JSON.stringify(fields)}\n---\n\n${wish.prompt ?? base?.prompt ?? ''}\n`;
  const { items, problems } = await muster.agents.read({ path, text, scope: 'user' });
  const [requested] = items;
  if (requested === undefined)
    throw new UsageError(problems.map(({ message }) => message).join('\n'));
  return base === null ? requested : basedOn(base, requested, wish);
}

/**
 * Finds the agent on which a new one is based. An agent that can be used precedes an example of the same name.
 */
async function agentToBeginWith(
  name: string,
  found: LoadedAgents['found'],
): Promise<AgentDefinition> {
  const example =
    lookUpAgent(name, found.items) === undefined ? await loadExampleAgent(name) : undefined;
  return example ?? requireAgent(name, found);
}

/** Combines the fields of the request with those of the old agent, without its aliases. */
function basedOn(
  base: AgentDefinition,
  requested: AgentDefinition,
  wish: NewAgent,
): AgentDefinition {
  const {
    tools: _tools,
    delegatesTo: _delegatesTo,
    unusable: _unusable,
    model: _model,
    models: _models,
    ...rest
  } = base;
  const { mode, permissionMode } = wish.mode === null ? base : requested;
  const { model, models } = wish.model === null ? base : requested;
  return {
    ...rest,
    ...toolsOf(wish.tools === null ? base : requested),
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

function toolsOf({ tools, delegatesTo, unusable }: AgentDefinition) {
  return { tools, ...dropMissing({ delegatesTo, unusable }) };
}

async function lintNew(agent: AgentDefinition, here: LoadedAgents): Promise<readonly Finding[]> {
  const lint = await createAgentLinter(here);
  const same = here.found.items.filter(
    ({ name }) => name.toLowerCase() === agent.name.toLowerCase(),
  );
  return lint(agent, {
    text: null,
    source: (await writeAgent(agent)).text,
    known: [agent, ...here.found.items],
    shadowedBy: null,
    clash: null,
    shadows: same.filter(({ origin }) => origin.path !== agent.origin.path),
  });
}

/**
 * Reads a file or a pipe that a person names as a prompt. It may have as many bytes as an agent's file.
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
