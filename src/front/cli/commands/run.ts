import { resolve } from 'node:path';
import { createMuster } from '../../../api/muster.ts';
import type { AgentDefinition, EventListener, Muster, Run } from '../../../api/index.ts';
import type { JsonObject } from '../../../base/json.ts';
import { errorMessage, UsageError } from '../../../base/errors.ts';
import type { AgentsArgument, RunCommand } from '../command.ts';
import { readOutputSchema } from '../output-schema.ts';
import { readMessage, readPrompt } from '../stdin.ts';
import { stderrNotice } from '../stderr.ts';
import { withNamedFiles } from './named-files.ts';

const OFFLINE_NOTICE =
  'no model is configured: the offline search engine answers. For a real model set ANTHROPIC_API_KEY, OPENAI_API_KEY or GEMINI_API_KEY, or see `muster models`.';

/** Says that no model answers. */
export function tellOffline({ offlineByDefault }: Muster): void {
  if (offlineByDefault) stderrNotice(OFFLINE_NOTICE);
}

/** Of a file of agents for one run. */
const MOST_AGENTS_BYTES = 16 * 1024 * 1024;

/** `muster -p`: one prompt, run to its end. `given`: it was read already. */
export async function runPrompt(
  command: RunCommand,
  given: Promise<string | null> = promptFor(command),
): Promise<number> {
  const cwd = resolve(command.cwd ?? '.');
  const [muster, { runHeadless }, prompt, outputSchema] = await Promise.all([
    createMuster({
      cwd,
      addDirs: command.addDirs.map((path) => resolve(path)),
      ...(command.dataDir === null ? {} : { dataDir: resolve(command.dataDir) }),
      log: command.log,
      trustProject: command.trustProject,
      flags: command.flags,
      agents: command.agents === null ? [] : await sessionAgents(command.agents),
      ...(command.maxTurns === null ? {} : { maxTurns: command.maxTurns }),
      onNotice: stderrNotice,
    }),
    import('../../headless/headless.ts'),
    given,
    command.outputSchema === null ? null : readOutputSchema(command.outputSchema),
  ]);
  try {
    return await runHeadless(
      muster,
      (onEvent, signal) => begin(muster, command, { prompt, outputSchema, onEvent, signal }),
      {
        format: command.outputFormat,
        verbose: command.verbose || muster.verbose,
        dataDir: command.dataDir === null ? null : resolve(command.dataDir),
        onStarted: () => {
          if (command.resume === null) tellOffline(muster);
        },
      },
    );
  } finally {
    await muster.close();
  }
}

/**
 * Null: the conversation that goes on gets no message. That of an agent which may begin by itself is
 * read once that is known.
 */
async function promptFor(command: RunCommand): Promise<string | null> {
  const { resume, prompt, readsStdin } = command;
  if (mayBeginByItself(command)) return null;
  if (resume === null) return readPrompt(prompt);
  return readsStdin ? readMessage(prompt) : prompt;
}

function mayBeginByItself({ agent, prompt, resume }: RunCommand): boolean {
  return resume === null && agent !== null && prompt === null;
}

interface Beginning {
  readonly prompt: string | null;
  readonly outputSchema: JsonObject | null;
  readonly onEvent: EventListener;
  readonly signal: AbortSignal;
}

async function begin(
  muster: Muster,
  command: RunCommand,
  { prompt, outputSchema, onEvent, signal }: Beginning,
): Promise<Run> {
  const { resume, agent } = command;
  if (resume === null) {
    const named = agent === null ? {} : { agent };
    const said = mayBeginByItself(command)
      ? await promptBeside(muster, agent ?? '', signal)
      : prompt;
    const given = said === null ? {} : { prompt: said };
    const form = outputSchema === null ? {} : { outputSchema };
    const files = await withNamedFiles(muster, said, { to: null, ...named, signal });
    return muster.start({ ...given, source: 'cli', ...named, ...form, ...files }, onEvent);
  }
  if (resume !== 'newest' && resume.branchAt !== undefined) {
    const said = prompt === null ? {} : { prompt };
    const { id, branchAt: at } = resume;
    return muster.branch({ id, at, ...said, takesFiles: true, signal }, onEvent);
  }
  const task = resume === 'newest' ? { id: muster.newestConversation() } : resume;
  if (task.id === null) throw new UsageError('no conversation of this directory is in the logs');
  const id = muster.store.resolveId(task.id);
  const files = await withNamedFiles(muster, prompt, { to: id, signal });
  return muster.resume({ ...task, id, ...(prompt === null ? {} : { prompt }), ...files }, onEvent);
}

/** For an agent that begins by itself nobody need say anything; what stdin holds goes with it. */
async function promptBeside(
  muster: Muster,
  agent: string,
  signal: AbortSignal,
): Promise<string | null> {
  return muster.beginsByItself(agent) ? readMessage(null, signal) : readPrompt(null, signal);
}

export async function sessionAgents(argument: AgentsArgument): Promise<readonly AgentDefinition[]> {
  const { parseSessionAgents } = await import('../../../api/index.ts');
  const text = argument.kind === 'json' ? argument.text : await readAgentsFile(argument.path);
  const { items, problems } = parseSessionAgents(text);
  const broken = problems.filter(({ code }) => code !== 'unknown-field');
  if (items.length === 0 && broken.length > 0) {
    throw new UsageError(broken.map(({ message }) => message).join('; '));
  }
  for (const { message } of broken) stderrNotice(message);
  for (const { name, problems: own } of items) {
    for (const { message } of own) stderrNotice(`--agents: ${name}: ${message}`);
  }
  return items;
}

async function readAgentsFile(path: string): Promise<string> {
  const { readNamedFile } = await import('../../../sys/named-file.ts');
  try {
    const bytes = await readNamedFile(path, { maxBytes: MOST_AGENTS_BYTES });
    return bytes.toString('utf8');
  } catch (thrown) {
    throw new UsageError(`--agents @${errorMessage(thrown)}`);
  }
}
