import { resolve } from 'node:path';
import {
  loadSessions,
  type EventListener,
  type Session,
  type SessionOptions,
  type Run,
  type MessageQuoteRequest,
  type QuotedItems,
} from '../../api/index.ts';
import type { JsonObject } from '../../base/json.ts';
import { UsageError } from '../../base/errors.ts';
import { loadOutputSchema, readAcceptanceFlags, readSessionAgents } from './file-options.ts';
import { printNotice } from './output.ts';
import type { RunFlags, SessionFlags } from './run-options.ts';
import { readMessage, readPrompt } from './stdin.ts';
import { mayNameItems } from '../../protocol/server-mentions.ts';
import { dropMissing } from '../../base/drop-missing.ts';

const OFFLINE_NOTICE =
  'no model is configured: the offline search engine answers. For a real model run `muster login`, set a key such as ANTHROPIC_API_KEY, or start Ollama or LM Studio with a model.';

/** Reports on stderr that no model answers. */
export function reportOffline({ offlineByDefault }: Session): void {
  if (offlineByDefault) printNotice(OFFLINE_NOTICE);
}

/** Converts the options of a command to those of the library. Paths become absolute. */
export async function toSessionOptions(options: SessionFlags): Promise<SessionOptions> {
  const { addDirs, agents, cwd, dataDir, debug, flags, log, trustProject } = options;
  return {
    cwd: resolve(cwd ?? '.'),
    addDirs: addDirs.map((path) => resolve(path)),
    ...(dataDir === null ? {} : { dataDir: resolve(dataDir) }),
    ...(log ? {} : { log }),
    ...(debug ? { debug } : {}),
    trustProject,
    flags,
    agents: await readSessionAgents(agents),
    onNotice: printNotice,
  };
}

/** Runs one prompt to its end without a person (`muster -p`). Default of `prompt`: it is read as the options say. */
export async function runPrompt(
  options: RunFlags,
  prompt: Promise<string | null> = readRunPrompt(options),
): Promise<number> {
  const { dataDir, outputFormat, outputSchema, resume, verbose } = options;
  const [muster, { runHeadless }, said, schema] = await Promise.all([
    openRunSession(options),
    import('../headless/headless.ts'),
    prompt,
    outputSchema === null ? null : loadOutputSchema(outputSchema),
  ]);
  try {
    return await runHeadless(
      muster,
      (onEvent, signal) => startPrompt(muster, options, { prompt: said, schema, onEvent, signal }),
      {
        format: outputFormat,
        verbose: verbose || muster.verbose,
        dataDir: dataDir === null ? null : resolve(dataDir),
        onStarted: () => {
          if (resume === null) reportOffline(muster);
        },
      },
    );
  } finally {
    await muster.close();
  }
}

/** Opens the session of a headless run. */
export async function openRunSession(options: RunFlags): Promise<Session> {
  const { agent, maxTurns, resume, worktree } = options;
  const [{ openSession }, session] = await Promise.all([loadSessions(), toSessionOptions(options)]);
  return openSession({
    ...session,
    ...dropMissing({ maxTurns, worktree }),
    // A task that continues has the tools that it had.
    ...(resume === null ? dropMissing({ mainAgent: agent }) : { mainAgent: null }),
    // A conversation can only continue in its log.
    ...(resume === null ? {} : { log: true }),
    // A program that writes messages can answer questions, too.
    ...(isAnswering(options) ? { questions: 'wait' } : {}),
  });
}

/** Whether questions wait for answers from stdin. The flag `--on-ask` takes precedence. */
function isAnswering({ inputFormat, flags }: RunFlags): boolean {
  return inputFormat === 'stream-json' && !flags.some(({ key }) => key === 'permissions.on_ask');
}

/** Reads the prompt. Resolves to null if a conversation continues without a message, or if the agent may start by itself. */
async function readRunPrompt(options: RunFlags): Promise<string | null> {
  const { resume, prompt, readsStdin } = options;
  if (mayStartByItself(options)) return null;
  if (resume === null) return readPrompt(prompt);
  return readsStdin ? readMessage(prompt) : prompt;
}

function mayStartByItself({ agent, prompt, resume }: RunFlags): boolean {
  return resume === null && agent !== null && prompt === null;
}

interface Start {
  readonly prompt: string | null;
  readonly schema: JsonObject | null;
  readonly onEvent: EventListener;
  readonly signal: AbortSignal;
}

/** Starts or continues the conversation that the options name, with a prompt. */
export async function startPrompt(
  muster: Session,
  options: RunFlags,
  { prompt, schema, onEvent, signal }: Start,
): Promise<Run> {
  const { resume, agent } = options;
  if (resume === null) {
    const named = dropMissing({ agent });
    const said = mayStartByItself(options)
      ? await promptBesideAgent(muster, agent ?? '', signal)
      : prompt;
    const accept = readAcceptanceFlags(options.accept);
    const given = dropMissing({ prompt: said, outputSchema: schema, accept });
    const files = await gatherItems(muster, said, { to: null, ...named, signal });
    return muster.start({ ...given, source: 'cli', ...named, ...files }, onEvent);
  }
  const message = dropMissing({ prompt });
  if (resume !== 'newest' && resume.branchAt !== undefined) {
    const { id, branchAt: at } = resume;
    return muster.branch({ id, at, ...message, takesFiles: true, signal }, onEvent);
  }
  const task = resume === 'newest' ? { id: muster.newestConversation() } : resume;
  if (task.id === null) throw new UsageError('no conversation of this directory is in the logs');
  const id = muster.store.resolveId(task.id);
  const files = await gatherItems(muster, prompt, { to: id, signal });
  return muster.resume({ ...task, id, ...message, ...files }, onEvent);
}

/** Reads the prompt for an agent from stdin. An agent that starts by itself needs no prompt; others require one. */
async function promptBesideAgent(
  muster: Session,
  agent: string,
  signal: AbortSignal,
): Promise<string | null> {
  return muster.beginsByItself(agent) ? readMessage(null, signal) : readPrompt(null, signal);
}

/**
 * Reads the files and resources that a prompt names with `@`, and the slash command or the prompt of an MCP server that it
 * chooses, as in the terminal UI. A file that cannot be read is reported on stderr, and the prompt is used without it. Rejects with MusterError
 * if the slash command or the prompt cannot be sent.
 */
export async function gatherItems(
  muster: Pick<Session, 'enclose'>,
  prompt: string | null,
  recipient: Pick<MessageQuoteRequest, 'to' | 'agent' | 'signal'>,
): Promise<{ readonly enclosed?: QuotedItems }> {
  if (prompt === null || !mayNameItems(prompt)) return {};
  const enclosed = await muster.enclose({
    ...recipient,
    words: prompt,
    outputs: [],
    images: [],
    requiresKnownCommand: true,
  });
  for (const problem of enclosed.problems) printNotice(problem);
  return enclosed.enclosures.length === 0 ? {} : { enclosed };
}
