import { isJsonObject } from '../base/json.ts';
import { UsageError } from '../base/errors.ts';
import type { ModelFailure } from '../protocol/model.ts';
import { HttpStatusError, WrongServerError } from './adapters/errors/answer-errors.ts';
import { describeErrorBody } from './adapters/errors/error-body.ts';
import { toModelFailure } from './adapters/errors/model-failure.ts';
import { ListConnection } from './listing/list-connection.ts';
import { createModelPort, type ModelPortDeps } from './model-port.ts';
import type { ConfiguredProvider } from './providers/configured-provider.ts';
import { hideKey } from './providers/provider-key.ts';
import { findPresetByHost, PRESETS } from './settings/presets.ts';

/** The answer of a provider to a key. No text contains the key. */
export type KeyCheck =
  /** `note`: what the provider says about the account, such as that it has no credit; null: nothing. */
  | { readonly kind: 'accepted'; readonly note: string | null }
  | { readonly kind: 'refused'; readonly message: string }
  /** The provider did not answer, or with something that says nothing about the key. */
  | { readonly kind: 'undecided'; readonly message: string };

/** A provider with a key that is known. */
interface KeyedProvider extends ConfiguredProvider {
  readonly apiKey: string;
}

type CheckDeps = Omit<ModelPortDeps, 'providers' | 'localPorts' | 'keys'>;

/** The time limit of one request for a list. */
const LIST_MS = 20_000;
/** The time limit of the request to a model. */
const ANSWER_MS = 60_000;
/** Some servers refuse a smaller limit, for which a model that thinks has no room. */
const MAX_OUTPUT_TOKENS = 16;

/**
 * Tries the key of a provider. It requests the list of models, which costs nothing. If the list needs no key or says
 * nothing about it, a request for a few tokens decides. Never rejects because of what a server answers.
 */
export async function checkKey(provider: KeyedProvider, deps: CheckDeps): Promise<KeyCheck> {
  try {
    const host = findPresetByHost(new URL(provider.baseUrl).hostname);
    const keyPath = host === null ? undefined : PRESETS[host].keyPath;
    const listed = await request(provider, keyPath ?? '/models', deps);
    const verdict = judge(listed, provider);
    if (verdict !== null) return verdict;
    const isProof =
      isSuccess(listed) && (keyPath !== undefined || !(await isPublic(provider, deps)));
    if (isProof) return { kind: 'accepted', note: null };
    const model = chooseModel(provider, listed);
    if (model === null) {
      return { kind: 'undecided', message: describeMissingModel(listed, provider) };
    }
    return await tryModel(provider, model, deps);
  } catch (thrown) {
    return { kind: 'undecided', message: describeThrown(thrown, provider) };
  }
}

/** The response to a request for a list. */
interface ListResponse {
  /** The HTTP status; null: it is a page or another text that is no list. */
  readonly status: number | null;
  /** The body of an unsuccessful response. */
  readonly body: string;
  /** The decoded body of a successful response. */
  readonly list: unknown;
}

function isSuccess({ status }: ListResponse): boolean {
  return status === 200;
}

/** Sends a request with the key of the provider. Tries both addresses if it is not clear which one is right. */
async function request(
  provider: ConfiguredProvider,
  path: string,
  deps: CheckDeps,
): Promise<ListResponse> {
  const { baseUrl, otherBaseUrl } = provider;
  const first = await get(provider, `${baseUrl}${path}`, deps);
  const isWrongAddress = first.status === null || first.status === 404 || first.status === 405;
  if (otherBaseUrl === undefined || !isWrongAddress) return first;
  const other = await get(provider, `${otherBaseUrl}${path}`, deps);
  return isSuccess(other) || other.status === 401 ? other : first;
}

async function get(
  provider: ConfiguredProvider,
  address: string,
  { fetch }: CheckDeps,
): Promise<ListResponse> {
  const server = { fetch, protocol: provider.protocol, endpoint: provider };
  try {
    const list = await new ListConnection(server, LIST_MS).requestJson(address);
    return { status: 200, body: '', list };
  } catch (thrown) {
    if (thrown instanceof WrongServerError) return { status: null, body: '', list: null };
    if (!(thrown instanceof HttpStatusError)) throw thrown;
    return { status: thrown.status, body: thrown.responseBody, list: null };
  }
}

/** Matches a message about a key, for servers that answer a wrong key with status 400. */
const ABOUT_KEY = /api[\s_-]?key|credential|authenticat|unauthori[sz]ed/i;
/** Matches a message about money, for servers that answer with status 401 or 403 when an account has none. */
const ABOUT_CREDIT = /insufficient_quota|quota|billing|credits?\b|balance/i;

/** Matches a message about a wrong key, which may mention money as well. */
const ABOUT_WRONG_KEY =
  /(?:invalid|incorrect|wrong|unknown|expired|revoked|malformed|bad)\W+(?:\w+\W+){0,3}?(?:api[\s_-]?key|token|credentials?)|(?:api[\s_-]?key|token|credentials?)\W+(?:\w+\W+){0,3}?(?:invalid|incorrect|wrong|unknown|expired|revoked|malformed|not valid)/i;

/** Judges a key by a response; null: the response says nothing about the key. */
function judge({ status, body }: ListResponse, provider: KeyedProvider): KeyCheck | null {
  if (status === null) return null;
  return judgeStatus(status, { text: describeStatus(status, body, provider), body });
}

function describeStatus(status: number, body: string, provider: KeyedProvider): string {
  const { host } = new URL(provider.baseUrl);
  return `HTTP ${status}: ${hideKey(describeErrorBody(body, host), provider.apiKey)}`;
}

/** Says why there is no model with which a key could be tried. */
function describeMissingModel({ status, body }: ListResponse, provider: KeyedProvider): string {
  const { baseUrl } = provider;
  if (status === null) return `${baseUrl} answers with a page or another text that is no list`;
  if (status === 200) return `${baseUrl} lists no model with which the key could be tried`;
  return `${baseUrl} lists no models: ${describeStatus(status, body, provider)}`;
}

function judgeStatus(
  status: number | undefined,
  { text, body }: { readonly text: string; readonly body: string },
): KeyCheck | null {
  switch (status) {
    case 401: {
      const isAboutCredit = ABOUT_CREDIT.test(body) && !ABOUT_WRONG_KEY.test(body);
      return isAboutCredit ? { kind: 'accepted', note: text } : { kind: 'refused', message: text };
    }
    case 400:
      return ABOUT_KEY.test(body) ? { kind: 'refused', message: text } : null;
    case 402:
      return { kind: 'accepted', note: text };
    case 429:
      // A limit for an address comes before any check of the key.
      return ABOUT_CREDIT.test(body)
        ? { kind: 'accepted', note: text }
        : { kind: 'undecided', message: text };
    default:
      return null;
  }
}

async function isPublic(provider: ConfiguredProvider, deps: CheckDeps): Promise<boolean> {
  return isSuccess(await request({ ...provider, apiKey: null }, '/models', deps));
}

/** Matches the names of models that do not chat. */
const NO_CHAT = /embed|rerank|whisper|bge-|tts|image|moderation/i;

function chooseModel({ tiers }: ConfiguredProvider, { list }: ListResponse): string | null {
  if (tiers.fast !== undefined) return tiers.fast;
  const entries = isJsonObject(list) && Array.isArray(list['data']) ? list['data'] : [];
  const ids = entries.flatMap((entry) =>
    isJsonObject(entry) && typeof entry['id'] === 'string' ? [entry['id']] : [],
  );
  return ids.find((id) => !NO_CHAT.test(id)) ?? tiers.balanced ?? null;
}

/** The parts of an answer that prove that the key was accepted. */
const PROOFS: ReadonlySet<string> = new Set([
  'text_delta',
  'reasoning_delta',
  'tool_call_started',
  'finished',
]);

/** Tries the key with a request for a few tokens. */
async function tryModel(
  provider: KeyedProvider,
  model: string,
  deps: CheckDeps,
): Promise<KeyCheck> {
  const port = createModelPort({ ...deps, providers: [provider] });
  const request = {
    model: { provider: provider.name, id: model, chain: [] },
    prefix: { system: [], tools: [] },
    messages: [{ role: 'user', content: [{ type: 'text', text: 'Hi' }] }],
    toolChoice: 'none',
    maxOutputTokens: MAX_OUTPUT_TOKENS,
  } as const;
  const stopped = new AbortController();
  const signal = AbortSignal.any([stopped.signal, AbortSignal.timeout(ANSWER_MS)]);
  let isAccepted = false;
  for await (const part of port.stream(request, signal)) {
    if (part.type === 'failed' && !isAccepted) return judgeFailure(part.failure, model);
    if (!PROOFS.has(part.type)) continue;
    isAccepted = true;
    // Some servers ignore the limit of tokens.
    stopped.abort();
  }
  return { kind: 'accepted', note: null };
}

function judgeFailure({ kind, message, status }: ModelFailure, model: string): KeyCheck {
  if (kind === 'cancelled') {
    return { kind: 'undecided', message: `${model} did not answer within ${ANSWER_MS / 1000} s` };
  }
  const verdict = judgeStatus(status === 403 ? 401 : status, { text: message, body: message });
  if (verdict !== null) return verdict;
  return kind === 'auth' ? { kind: 'refused', message } : { kind: 'undecided', message };
}

function describeThrown(thrown: unknown, provider: KeyedProvider): string {
  if (thrown instanceof UsageError) throw thrown;
  if (thrown instanceof DOMException && thrown.name === 'TimeoutError') {
    return `${provider.baseUrl} did not answer within ${LIST_MS / 1000} s`;
  }
  const context = { model: provider.name, server: provider, isAnswering: false, now: 0 };
  return toModelFailure(thrown, context).message;
}
