import { isJsonObject, type JsonObject } from '../../base/json.ts';
import { splitPieces } from '../prepare-answer.ts';
import { parseOrKeep } from './read-json.ts';
import type { Usage } from '../../protocol/model.ts';
import type { AnswerSearch } from '../answer.ts';
import type { ParsedBody } from '../wire-request.ts';
import { formatServerEvent, type Frame, type PreparedAnswer, type StreamedCall } from './codec.ts';

/** An event without its sequence number. */
type UnnumberedEvent = JsonObject & { readonly type: string };

/** Writes a stream of https://platform.openai.com/docs/api-reference/responses-streaming. */
export function* writeResponsesFrames(
  answer: PreparedAnswer,
  request: ParsedBody,
): Generator<Frame> {
  let sequence = 0;
  const frame = (stage: Frame['stage'], event: UnnumberedEvent): Frame => ({
    stage,
    text: formatServerEvent({ ...event, sequence_number: sequence++ }, event.type),
  });
  const started = createResponse(answer, request, {
    status: 'in_progress',
    output: [],
    usage: null,
  });
  yield frame('open', { type: 'response.created', response: started });
  yield frame('open', { type: 'response.in_progress', response: started });
  const output: JsonObject[] = [];
  for (const events of writeItemEvents(answer, request)) {
    const output_index = output.length;
    let item: JsonObject = {};
    for (const event of events) {
      if (event.item !== undefined) item = event.item;
      const sent = frame('content', { ...event, output_index });
      yield event.type.endsWith('.delta') ? { ...sent, piece: true } : sent;
    }
    output.push(item);
  }
  const ended = createEndedResponse(answer, request, output);
  const type = findIncompleteReason(answer) !== null ? 'response.incomplete' : 'response.completed';
  yield { ...frame('close', { type, response: ended }), usage: true };
}

type ItemEvent = UnnumberedEvent & { readonly item?: JsonObject };

/** Yields the events of each output item in turn. The last event of an item contains the complete item. */
function* writeItemEvents(
  answer: PreparedAnswer,
  { tools }: ParsedBody,
): Generator<Iterable<ItemEvent>> {
  if (answer.thinking !== null) yield writeReasoningEvents(`rs_${answer.id}`, answer.thinking);
  if (answer.search !== null) yield writeSearchEvents(`ws_${answer.id}`, answer.search);
  if (answer.text !== null)
    yield writeMessageEvents(`msg_${answer.id}`, answer.text, answer.search);
  for (const [index, call] of answer.calls.entries()) {
    const isFreeForm = tools.some(
      ({ name, grammar }) => name === call.name && grammar !== undefined,
    );
    yield isFreeForm
      ? writeFreeFormEvents(`ctc_${answer.id}_${index}`, call)
      : writeCallEvents(`fc_${answer.id}_${index}`, call);
  }
}

function* writeReasoningEvents(id: string, pieces: Iterable<string>): Generator<ItemEvent> {
  const at = { item_id: id, summary_index: 0 };
  yield { type: 'response.output_item.added', item: createReasoningItem(id, []) };
  const empty = { type: 'summary_text', text: '' };
  yield { type: 'response.reasoning_summary_part.added', ...at, part: empty };
  let text = '';
  for (const delta of pieces) {
    text += delta;
    yield { type: 'response.reasoning_summary_text.delta', ...at, delta };
  }
  const part = { ...empty, text };
  yield { type: 'response.reasoning_summary_text.done', ...at, text };
  yield { type: 'response.reasoning_summary_part.done', ...at, part };
  yield { type: 'response.output_item.done', item: createReasoningItem(id, [part]) };
}

/**
 * Creates a reasoning item. Its `encrypted_content` contains the id of the item, so that a test can check that it is sent
 * back unchanged.
 */
function createReasoningItem(id: string, summary: readonly JsonObject[]): JsonObject {
  return { id, type: 'reasoning', summary, encrypted_content: `enc_${id}` };
}

/** Yields the events of https://developers.openai.com/api/docs/guides/tools-web-search. */
function* writeSearchEvents(id: string, { query, pages }: AnswerSearch): Generator<ItemEvent> {
  const item = { id, type: 'web_search_call', status: 'in_progress' };
  yield { type: 'response.output_item.added', item };
  yield { type: 'response.web_search_call.in_progress', item_id: id };
  yield { type: 'response.web_search_call.searching', item_id: id };
  yield { type: 'response.web_search_call.completed', item_id: id };
  const sources = pages.map(({ url }) => ({ type: 'url', url }));
  const action = { type: 'search', query, sources };
  yield { type: 'response.output_item.done', item: { ...item, status: 'completed', action } };
}

function* writeMessageEvents(
  id: string,
  pieces: Iterable<string>,
  search: AnswerSearch | null,
): Generator<ItemEvent> {
  const at = { item_id: id, content_index: 0 };
  yield { type: 'response.output_item.added', item: createMessageItem(id, 'in_progress', []) };
  yield { type: 'response.content_part.added', ...at, part: createTextPart('') };
  let text = '';
  for (const delta of pieces) {
    text += delta;
    yield { type: 'response.output_text.delta', ...at, delta, logprobs: [] };
  }
  yield { type: 'response.output_text.done', ...at, text, logprobs: [] };
  yield { type: 'response.content_part.done', ...at, part: createTextPart(text) };
  yield {
    type: 'response.output_item.done',
    item: createMessageItem(id, 'completed', [
      { ...createTextPart(text), annotations: createCitations(text, search) },
    ]),
  };
}

function createCitations(text: string, search: AnswerSearch | null): readonly JsonObject[] {
  const pages = search?.pages ?? [];
  return pages.map(({ url, title }) => ({
    type: 'url_citation',
    url,
    title,
    start_index: 0,
    end_index: text.length,
  }));
}

function createTextPart(text: string): JsonObject {
  return { type: 'output_text', annotations: [], logprobs: [], text };
}

function createMessageItem(id: string, status: string, content: readonly JsonObject[]): JsonObject {
  return { id, type: 'message', status, role: 'assistant', content };
}

function* writeCallEvents(id: string, call: StreamedCall): Generator<ItemEvent> {
  const state = { type: 'function_call', status: 'in_progress', arguments: '' };
  const item = { id, ...state, call_id: call.id, name: call.name };
  yield { type: 'response.output_item.added', item };
  for (const delta of call.pieces) {
    yield { type: 'response.function_call_arguments.delta', item_id: id, delta };
  }
  yield { type: 'response.function_call_arguments.done', item_id: id, arguments: call.args };
  const status = call.state === 'cut' ? 'incomplete' : 'completed';
  yield { type: 'response.output_item.done', item: { ...item, status, arguments: call.args } };
}

/** Writes the call of a custom tool, whose input is the only argument as text. */
function* writeFreeFormEvents(id: string, call: StreamedCall): Generator<ItemEvent> {
  const args = parseOrKeep(call.args);
  const [text] = isJsonObject(args) ? Object.values(args) : [];
  const input = typeof text === 'string' ? text : call.args;
  const item = { id, type: 'custom_tool_call', call_id: call.id, name: call.name, input: '' };
  yield { type: 'response.output_item.added', item };
  for (const delta of splitPieces(input, call.pieces.length)) {
    yield { type: 'response.custom_tool_call_input.delta', item_id: id, delta };
  }
  yield { type: 'response.custom_tool_call_input.done', item_id: id, input };
  yield { type: 'response.output_item.done', item: { ...item, input } };
}

export function writeResponsesBody(answer: PreparedAnswer, request: ParsedBody): JsonObject {
  const output: JsonObject[] = [];
  for (const events of writeItemEvents(answer, request)) {
    const item = [...events].at(-1)?.item;
    if (item !== undefined) output.push(item);
  }
  return createEndedResponse(answer, request, output);
}

function createEndedResponse(
  answer: PreparedAnswer,
  request: ParsedBody,
  output: readonly JsonObject[],
): JsonObject {
  const reason = findIncompleteReason(answer);
  const status = reason === null ? 'completed' : 'incomplete';
  const incomplete_details = reason === null ? null : { reason };
  const usage = createResponsesUsage(answer.usage);
  return createResponse(answer, request, { status, incomplete_details, output, usage });
}

function findIncompleteReason({ stop }: PreparedAnswer): string | null {
  if (stop === 'length') return 'max_output_tokens';
  return stop === 'content_filter' ? 'content_filter' : null;
}

function createResponse(
  answer: PreparedAnswer,
  request: ParsedBody,
  state: JsonObject,
): JsonObject {
  return {
    id: `resp_${answer.id}`,
    object: 'response',
    created_at: answer.createdAt,
    error: null,
    incomplete_details: null,
    max_output_tokens: request.maxOutputTokens,
    model: request.model,
    parallel_tool_calls: true,
    store: false,
    ...state,
  };
}

function createResponsesUsage(usage: Usage): JsonObject {
  const input_tokens = usage.input + usage.cacheRead + usage.cacheWrite;
  return {
    input_tokens,
    input_tokens_details: {
      cached_tokens: usage.cacheRead,
      ...(usage.cacheWrite > 0 ? { cache_write_tokens: usage.cacheWrite } : {}),
    },
    output_tokens: usage.output,
    output_tokens_details: { reasoning_tokens: usage.reasoning },
    total_tokens: input_tokens + usage.output,
  };
}

/** The sequence number of an error event, for which the events before it are not counted. */
const ERROR_SEQUENCE = 9999;

const ERROR_CODES: Readonly<Record<number, string>> = {
  400: 'invalid_prompt',
  401: 'invalid_api_key',
  404: 'model_not_found',
  429: 'rate_limit_exceeded',
  503: 'server_is_overloaded',
};

export function writeResponsesErrorEvent(status: number, message: string): string {
  const code = ERROR_CODES[status] ?? 'server_error';
  const event = { type: 'error', code, message, param: null, sequence_number: ERROR_SEQUENCE };
  return formatServerEvent(event, 'error');
}
