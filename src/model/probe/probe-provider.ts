import { fail, ok, warn, type Check } from '../../protocol/check.ts';
import { unknownModel, type ListedModel } from '../../protocol/listed-model.ts';
import type { Usage } from '../../protocol/model.ts';
import type { LearnedSettings } from '../adapters/adapter.ts';
import { completeModel } from '../catalogue/complete-model.ts';
import type { ListOutcome } from '../listing/request-models.ts';
import { routeModel } from '../providers/cloud-route.ts';
import type { ConfiguredProvider } from '../providers/configured-provider.ts';
import { isPreset, PRESETS } from '../settings/presets.ts';
import { checkAbilities } from './check-abilities.ts';
import { checkCredentials } from './check-credentials.ts';
import { judgeModels } from './choose-model.ts';
import { describeFailure, failureText, hasNoEndpoint } from './describe-failure.ts';
import { PROTOCOL_TITLES, SHORT_ANSWER } from './judge-answer.ts';
import {
  MAX_PROBE_OUTPUT,
  MAX_PROBE_REQUESTS,
  quoteServerText,
  type ProbeClient,
} from './probe-client.ts';
import { ProbeLog, type ProbeLogDeps } from './probe-log.ts';
import { reachServer, type ReachDeps } from './reach-server.ts';

/** The provider that is probed. */
export interface ProbeTarget {
  /** The provider in each protocol that its server may have, the most likely one first. */
  readonly candidates: readonly [ConfiguredProvider, ...ConfiguredProvider[]];
  /** The id of the model that is asked; null: one is chosen. */
  readonly model: string | null;
}

/** The requests that a probe is about to send. */
export interface ProbePlan {
  readonly provider: ConfiguredProvider;
  readonly model: string;
  readonly maxRequests: number;
  /** The maximum number of tokens of each answer. */
  readonly maxOutput: number;
}

export interface ProbeDeps extends ProbeLogDeps, ReachDeps {
  listModels(provider: ConfiguredProvider): Promise<ListOutcome>;
  /** Asks whether the requests that cost tokens may be sent. */
  confirm(plan: ProbePlan): Promise<boolean>;
}

/** The settings that a probe has found. */
export interface ProbeFindings {
  readonly learned: LearnedSettings;
  /** The facts about the model that the server or the catalogue states. */
  readonly model: ListedModel;
  /** Whether the model sees images; null: that was not found out. */
  readonly seesImages: boolean | null;
}

export interface ProbeReport {
  readonly checks: readonly Check[];
  /** The provider in the protocol that answers, or in the most likely one. */
  readonly provider: ConfiguredProvider;
  /** The id of the model that was asked; null: none was. */
  readonly model: string | null;
  /** The number of requests to models. */
  readonly requests: number;
  /** The tokens of these requests, as the server reports them. */
  readonly usage: Usage;
  /** False if the server did not report the usage of an answer. */
  readonly isUsageComplete: boolean;
  /** The settings that were found; null: no answer came. */
  readonly findings: ProbeFindings | null;
}

/** Probes a provider, and stops where further requests would only fail. */
export async function probeProvider(target: ProbeTarget, deps: ProbeDeps): Promise<ProbeReport> {
  const [first] = target.candidates;
  const log = new ProbeLog(deps);
  const report = (
    provider: ConfiguredProvider,
    { model = null, findings = null }: Partial<Pick<ProbeReport, 'model' | 'findings'>> = {},
  ): ProbeReport => {
    const { sent: requests, usage, isUsageComplete } = log.budget;
    return { checks: log.checks, provider, model, requests, usage, isUsageComplete, findings };
  };
  const address = await reachServer(first, deps);
  log.add(address);
  const key = await checkCredentials(first, describeKey(first), deps.keys);
  log.add(key);
  if (address.status === 'fail' || key.status === 'fail') return report(first);
  const step = judgeModels(await listModels(target, deps), target.model, first);
  log.add(step.check);
  if (step.id === null) return report(first);
  const asked = { model: step.id };
  const plan = {
    provider: first,
    model: step.id,
    maxRequests: MAX_PROBE_REQUESTS,
    maxOutput: MAX_PROBE_OUTPUT,
  };
  if (!(await deps.confirm(plan))) {
    log.add(warn('protocol', 'not tested: no request was sent', null));
    return report(first, asked);
  }
  const candidates = routeAll(target.candidates, step.id);
  const client = await findProtocol(log, candidates, step.id);
  if (client === null) return report(first, asked);
  if (log.answers.at(-1)?.end.type === 'failed') return report(client.provider, asked);
  const model = await completeModel(client.provider, step.listed ?? unknownModel(step.id));
  const seesImages = await checkAbilities(log, client, model, candidates);
  return report(client.provider, {
    ...asked,
    findings: { learned: client.learned, model, seesImages },
  });
}

/** Returns the candidates as they are for a model, since a cloud serves the models of each vendor in another protocol. */
function routeAll(
  [first, ...others]: ProbeTarget['candidates'],
  modelId: string,
): ProbeTarget['candidates'] {
  return [routeModel(first, modelId), ...others.map((each) => routeModel(each, modelId))];
}

/** Asks for the list of models in the first protocol that has one. */
async function listModels(
  { candidates: [first, ...others] }: ProbeTarget,
  deps: ProbeDeps,
): Promise<ListOutcome> {
  const outcome = await deps.listModels(first);
  // The lists of the other protocols differ only in the header of the key.
  const anthropic = others.find(({ protocol }) => protocol === 'anthropic');
  if ('models' in outcome || anthropic === undefined) return outcome;
  const other = await deps.listModels(anthropic);
  return 'models' in other ? other : outcome;
}

/**
 * Asks for a short answer in one protocol after the other until the server has one of them. Returns null if it has
 * none. The last answer may be a failure.
 */
async function findProtocol(
  log: ProbeLog,
  candidates: ProbeTarget['candidates'],
  modelId: string,
): Promise<ProbeClient | null> {
  const missing: string[] = [];
  for (const candidate of candidates) {
    const client = log.open(candidate, modelId);
    const answer = await log.ask(client, SHORT_ANSWER);
    const title = PROTOCOL_TITLES[candidate.protocol];
    if (hasNoEndpoint(answer)) {
      missing.push(title);
      continue;
    }
    if (answer.end.type === 'failed') log.add(describeFailure('protocol', answer.end.failure));
    else log.add(ok('protocol', describeProtocol(title, missing, client)));
    return client;
  }
  const end = log.answers.at(-1)?.end;
  const text = end?.type === 'failed' ? `: ${failureText(end.failure)}` : '';
  log.add(
    fail(
      'protocol',
      `the server does not answer to ${missing.join(', ')}${text}`,
      'correct the URL: it is the part before /chat/completions, /responses or /messages',
    ),
  );
  return null;
}

function describeKey({
  name,
  apiKey,
  keyFrom,
  keySource,
  missingKey,
  keyProblem,
}: ConfiguredProvider): Check {
  if (keyProblem !== undefined) return fail('key', keyProblem, 'correct it');
  if (missingKey !== undefined) {
    const isKnown = isPreset(name) && PRESETS[name].keys.includes(missingKey);
    const signIn = isKnown ? `, or sign in: muster login ${name}` : '';
    return fail('key', `${missingKey} is not set`, `set ${missingKey} to the key${signIn}`);
  }
  if (apiKey === null && keySource === undefined) return ok('key', 'none is sent');
  return ok('key', `from ${keyFrom ?? 'the configuration'}`);
}

function describeProtocol(
  title: string,
  missing: readonly string[],
  { learned, provider }: ProbeClient,
): string {
  const others = missing.length === 0 ? '' : `; it has no ${missing.join(' and no ')}`;
  const at = learned.baseUrl === provider.baseUrl ? '' : ` at ${quoteServerText(learned.baseUrl)}`;
  return `${title} answers${at}${others}`;
}
