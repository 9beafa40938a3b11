import { ok, warn } from '../../protocol/check.ts';
import type { ListedModel } from '../../protocol/listed-model.ts';
import { toolCalls } from '../../protocol/message.ts';
import type { Effort } from '../../protocol/model.ts';
import type { ConfiguredProvider } from '../providers/configured-provider.ts';
import { hasNoEndpoint, isPassing } from './describe-failure.ts';
import {
  describeOmissions,
  describeRepairs,
  describeThinking,
  isOnlyThought,
  judgeOutputLimit,
  judgeStream,
  judgeUsage,
  PROTOCOL_TITLES,
  SHORT_ANSWER,
} from './judge-answer.ts';
import {
  continueWithResults,
  judgeToolCall,
  judgeResults,
  judgeTwoCalls,
  ONE_CALL,
  TWO_CALLS,
} from './judge-calls.ts';
import { judgeContextWindow, judgeLongPrompt, LONG_PROMPT } from './judge-context.ts';
import { createImageRequest, describeUnlistedImages, judgeImage } from './judge-image.ts';
import {
  LIMIT_REACHED,
  type ProbeAnswer,
  type ProbeClient,
  type ProbeRequest,
} from './probe-client.ts';
import type { ProbeLog } from './probe-log.ts';
import {
  createSchemaRequest,
  describeRefusedFeatures,
  findNamedFeatures,
  findRefusedFeatures,
  judgeSchema,
  SCHEMA_FEATURES,
} from './probe-schema.ts';

/** The effort that is tried for a model that thinks, so that its answers fit into the output limit. */
const LEAST_EFFORT: Effort = 'none';
/** The output limit of a request that only shows whether a protocol exists. */
const MIN_OUTPUT = 16;
/** The longest time to the first token, in milliseconds, after which a long prompt still is no burden. */
const FAST_MS = 1_500;

/**
 * Checks everything after the first answer. Returns whether the model sees images; null: that was not found out.
 *
 * @param candidates the provider in each protocol that its server may have
 */
export async function checkAbilities(
  log: ProbeLog,
  client: ProbeClient,
  model: ListedModel,
  candidates: readonly ConfiguredProvider[],
): Promise<boolean | null> {
  const short = await checkShortAnswer(log, client);
  const acceptsTools = await checkCalls(log, client);
  const seesImages = await checkImages(log, client, model);
  if (acceptsTools) await checkSchemas(log, client);
  await checkOtherProtocols(log, client, candidates);
  log.add(judgeContextWindow(model));
  await checkLongPrompt(log, client, short);
  log.add(judgeOutputLimit(log.answers, client.learned));
  log.add(describeOmissions(client.learned));
  log.add(describeRepairs(log.answers));
  return seesImages;
}

async function checkShortAnswer(log: ProbeLog, client: ProbeClient): Promise<ProbeAnswer | null> {
  let short = log.answers.at(-1) ?? null;
  if (short === null) return null;
  const thinks = short.hasThought || isOnlyThought(short);
  if (thinks) client.effort = LEAST_EFFORT;
  if (isOnlyThought(short)) short = await log.ask(client, SHORT_ANSWER);
  log.add(judgeStream(short));
  log.add(judgeUsage(short, client.learned));
  return short;
}

/** Checks calls of tools. Returns false if the server refuses tools. */
async function checkCalls(log: ProbeLog, client: ProbeClient): Promise<boolean> {
  const one = await askIfAllowed(log, 'tool call', client, ONE_CALL);
  if (one === null) return true;
  log.add(describeThinking(log.answers, client.effort, client.learned));
  log.add(judgeToolCall(one));
  if (one.end.type === 'failed') return isPassing(one.end.failure);
  // A model that makes no call makes no two calls.
  if (!hasCalls(one)) return true;
  const two = await askIfAllowed(log, 'parallel calls', client, TWO_CALLS);
  if (two === null) return true;
  log.add(judgeTwoCalls(two));
  const [request, called] = hasCalls(two) ? [TWO_CALLS, two] : [ONE_CALL, one];
  if (called.end.type === 'failed') return true;
  const next = continueWithResults(request, called.end.message);
  const last = await askIfAllowed(log, 'tool results', client, next);
  if (last !== null) log.add(judgeResults(last));
  return true;
}

async function checkImages(
  log: ProbeLog,
  client: ProbeClient,
  model: ListedModel,
): Promise<boolean | null> {
  if (model.images === false) {
    const { check, isSupported } = describeUnlistedImages();
    log.add(check);
    return isSupported;
  }
  const answer = await askIfAllowed(log, 'images', client, createImageRequest());
  if (answer === null) return null;
  const { check, isSupported } = judgeImage(answer);
  log.add(check);
  return isSupported;
}

async function checkSchemas(log: ProbeLog, client: ProbeClient): Promise<void> {
  const all = createSchemaRequest(SCHEMA_FEATURES);
  const answer = await askIfAllowed(log, 'tool schemas', client, all);
  if (answer === null) return;
  const check = judgeSchema(answer);
  if (check !== null) {
    log.add(check);
    return;
  }
  const refused = await findRefusedFeatures(
    SCHEMA_FEATURES,
    findNamedFeatures(answer),
    async (features) => {
      if (log.budget.remaining === 0) return null;
      const { end } = await log.ask(client, createSchemaRequest(features));
      return end.type === 'finished';
    },
  );
  log.add(describeRefusedFeatures(answer, refused));
}

/** Finds out which of the other protocols the server has, too. */
async function checkOtherProtocols(
  log: ProbeLog,
  client: ProbeClient,
  candidates: readonly ConfiguredProvider[],
): Promise<void> {
  const found: string[] = [];
  for (const candidate of candidates) {
    if (candidate.protocol === client.provider.protocol || log.budget.remaining === 0) continue;
    const { otherBaseUrl: _, ...settled } = candidate;
    const answer = await log.open(settled, client.model.id).ask({
      ...SHORT_ANSWER,
      maxOutputTokens: MIN_OUTPUT,
    });
    const title = PROTOCOL_TITLES[candidate.protocol];
    found.push(describeOther(title, answer));
  }
  if (found.length > 0) log.add(ok('other protocols', found.join('; ')));
}

function describeOther(title: string, answer: ProbeAnswer): string {
  if (answer.end.type === 'finished') return `${title} answers, too`;
  if (hasNoEndpoint(answer)) return `${title}: no`;
  return `${title}: ${isPassing(answer.end.failure) ? 'not tested' : 'refused'}`;
}

/** Sends a long prompt if that is free and fast. */
async function checkLongPrompt(
  log: ProbeLog,
  client: ProbeClient,
  short: ProbeAnswer | null,
): Promise<void> {
  if (!client.provider.isPrivate || log.budget.remaining === 0) return;
  const times = [...log.answers.slice(1), ...(short === null ? [] : [short])];
  const fastest = Math.min(...times.map(({ firstMs, totalMs }) => firstMs ?? totalMs));
  if (fastest > FAST_MS) return;
  log.add(judgeLongPrompt(await log.ask(client, LONG_PROMPT)));
}

/** Sends a request, or reports that the check cannot be made any more. */
async function askIfAllowed(
  log: ProbeLog,
  name: string,
  client: ProbeClient,
  request: ProbeRequest,
): Promise<ProbeAnswer | null> {
  if (log.budget.remaining > 0) return log.ask(client, request);
  log.add(warn(name, `not tested: ${LIMIT_REACHED}`, null));
  return null;
}

function hasCalls({ end }: ProbeAnswer): boolean {
  return end.type === 'finished' && toolCalls(end.message).length > 0;
}
