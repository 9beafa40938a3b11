import { isJsonObject } from '../base/json.ts';
import { parseJsonLine } from '../base/jsonl.ts';
import { UsageError } from '../base/errors.ts';
import type { ModelFailure } from '../protocol/model.ts';
import type { HttpResponse } from '../sys/http/http-types.ts';
import { describeErrorBody } from './adapters/errors/error-body.ts';
import { toModelFailure } from './adapters/errors/model-failure.ts';
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
/** The maximum size of a list that is read. */
const MAX_LIST_BYTES = 4_194_304;
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
    return await tryModel(provider, chooseModel(provider, listed), deps);
  } catch (thrown) {
    return { kind: 'undecided', message: describeThrown(thrown, provider) };
  }
}

/** The response to a request for a list. */
interface ListResponse {
  readonly status: number;
  readonly body: string;
}

function isSuccess({ status, body }: ListResponse): boolean {
  return status >= 200 && status < 300 && parseJsonLine(body) !== undefined;
}

/** Sends a request with the key, or without one. Tries both addresses if it is not clear which one is right. */
async function request(
  provider: ConfiguredProvider,
  path: string,
  deps: CheckDeps,
): Promise<ListResponse> {
  const { baseUrl, otherBaseUrl } = provider;
  const first = await get(provider, `${baseUrl}${path}`, deps);
  const isWrongAddress = first.status === 404 || first.status === 405 || first.body.startsWith('<');
  if (otherBaseUrl === undefined || !isWrongAddress) return first;
  const other = await get(provider, `${otherBaseUrl}${path}`, deps);
  return isSuccess(other) || other.status === 401 ? other : first;
}

async function get(
  provider: ConfiguredProvider,
  address: string,
  { fetch, version }: CheckDeps,
): Promise<ListResponse> {
  const { query } = provider;
  const headers = {
    ...provider.headers,
    'user-agent': `muster/${version}`,
    ...keyHeaders(provider),
  };
  const signal = AbortSignal.timeout(LIST_MS);
  const response = await fetch(query === undefined ? address : `${address}?${query}`, {
    headers,
    signal,
  });
  return { status: response.status, body: await readBody(response) };
}

/** Returns the headers with which a protocol expects a key. */
function keyHeaders({ protocol, apiKey, keyHeader }: ConfiguredProvider): Record<string, string> {
  const versions = protocol === 'anthropic' ? { 'anthropic-version': '2023-06-01' } : {};
  if (apiKey === null) return versions;
  const own = { anthropic: 'x-api-key', google: 'x-goog-api-key' } as const;
  const name =
    keyHeader ??
    (protocol === 'anthropic' || protocol === 'google' ? own[protocol] : 'authorization');
  return { ...versions, [name]: name === 'authorization' ? `Bearer ${apiKey}` : apiKey };
}

async function readBody({ body }: HttpResponse): Promise<string> {
  if (body === null) return '';
  const decoder = new TextDecoder();
  let text = '';
  let remaining = MAX_LIST_BYTES;
  while (remaining > 0) {
    const piece = await body.read();
    if (piece === null) return (text + decoder.decode()).trim();
    text += decoder.decode(piece, { stream: true });
    remaining -= piece.length;
  }
  await body.cancel();
  return text.trim();
}

/** Matches a message about a key, for servers that answer a wrong key with status 400. */
const ABOUT_KEY = /api[\s_-]?key|credential|authenticat|unauthori[sz]ed/i;
/** Matches a message about money, for servers that answer with status 401 or 403 when an account has none. */
const ABOUT_CREDIT = /insufficient_quota|quota|billing|credits?\b|balance/i;

/** Judges a key by a response; null: the response says nothing about the key. */
function judge({ status, body }: ListResponse, provider: KeyedProvider): KeyCheck | null {
  const { host } = new URL(provider.baseUrl);
  const text = hideKey(describeErrorBody(body, host), provider.apiKey);
  return judgeStatus(status, { text: `HTTP ${status}: ${text}`, body });
}

function judgeStatus(
  status: number | undefined,
  { text, body }: { readonly text: string; readonly body: string },
): KeyCheck | null {
  switch (status) {
    case 401:
      if (!ABOUT_CREDIT.test(body)) return { kind: 'refused', message: text };
      return { kind: 'accepted', note: text };
    case 400:
      return ABOUT_KEY.test(body) ? { kind: 'refused', message: text } : null;
    case 402:
    case 429:
      return { kind: 'accepted', note: text };
    default:
      return null;
  }
}

async function isPublic(provider: ConfiguredProvider, deps: CheckDeps): Promise<boolean> {
  return isSuccess(await request({ ...provider, apiKey: null }, '/models', deps));
}

/** Matches the names of models that do not chat. */
const NO_CHAT = /embed|rerank|whisper|bge-|tts|image|moderation/i;

function chooseModel({ tiers }: ConfiguredProvider, { body }: ListResponse): string | null {
  if (tiers.fast !== undefined) return tiers.fast;
  const list = parseJsonLine(body);
  const entries = isJsonObject(list) && Array.isArray(list['data']) ? list['data'] : [];
  const ids = entries.flatMap((entry) =>
    isJsonObject(entry) && typeof entry['id'] === 'string' ? [entry['id']] : [],
  );
  return ids.find((id) => !NO_CHAT.test(id)) ?? tiers.balanced ?? null;
}

/** Tries the key with a request for a few tokens. */
async function tryModel(
  provider: KeyedProvider,
  model: string | null,
  deps: CheckDeps,
): Promise<KeyCheck> {
  if (model === null) {
    const message = `${provider.baseUrl} lists no model with which the key could be tried`;
    return { kind: 'undecided', message };
  }
  const port = createModelPort({ ...deps, providers: [provider] });
  const request = {
    model: { provider: provider.name, id: model, chain: [] },
    prefix: { system: [], tools: [] },
    messages: [{ role: 'user', content: [{ type: 'text', text: 'Hi' }] }],
    toolChoice: 'none',
    maxOutputTokens: MAX_OUTPUT_TOKENS,
  } as const;
  for await (const part of port.stream(request, new AbortController().signal)) {
    if (part.type === 'failed') return judgeFailure(part.failure);
  }
  return { kind: 'accepted', note: null };
}

function judgeFailure({ kind, message, status }: ModelFailure): KeyCheck {
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
