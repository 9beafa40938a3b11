import { isJsonObject, type JsonObject, type JsonValue } from '../../../base/json.ts';
import type { AnswerBuilder } from './answer-builder.ts';
import { parseLenientJson } from './lenient-json.ts';
import { numberOf, objectOf, objectsOf, textOf } from './reader.ts';

interface Call {
  /** Its key in the builder. */
  readonly key: string;
  readonly id: string | undefined;
  name: string;
  readonly index: number | undefined;
}

/** One piece of a call as a server sent it. */
interface Piece {
  readonly index: number | undefined;
  readonly id: string | undefined;
  readonly name: string | undefined;
  readonly args: string;
}

/**
 * Puts together the calls of a Chat answer. Servers leave out indexes and ids, repeat them for several calls,
 * repeat the name or the whole call, and send arguments as objects.
 */
export class ChatCalls {
  private readonly answer: AnswerBuilder;
  private readonly calls: Call[] = [];

  constructor(answer: AnswerBuilder) {
    this.answer = answer;
  }

  /** Takes the calls of a delta or message. */
  take(delta: JsonObject): void {
    for (const call of objectsOf(delta['tool_calls'])) this.takeCall(call);
    // The field before `tool_calls`; some servers still send it.
    const single = objectOf(delta['function_call']);
    if (single !== undefined) this.takeCall({ index: 0, function: single });
  }

  private takeCall(sent: JsonObject): void {
    const inner = objectOf(sent['function']) ?? sent;
    const piece: Piece = {
      index: numberOf(sent['index']),
      id: textOf(sent['id'])?.trim() || undefined,
      name: typeof inner['name'] === 'string' ? inner['name'] : undefined,
      args: this.argumentText(inner['arguments'] ?? inner['parameters']),
    };
    const call = this.callOf(piece);
    if (call !== null) this.grow(call, piece.args);
    // Google's compatible server puts the signature of the thought here.
    const signature = textOf(
      objectOf(objectOf(sent['extra_content'])?.['google'])?.['thought_signature'],
    );
    if (signature !== undefined) this.answer.annotateLast({ thoughtSignature: signature });
  }

  private argumentText(args: JsonValue | undefined): string {
    if (typeof args === 'string') return args;
    if (args === undefined || args === null) return '';
    this.answer.repair('arguments_as_object');
    return JSON.stringify(args);
  }

  /** The call that the piece belongs to, begun if it is new; null: it belongs to none. */
  private callOf(piece: Piece): Call | null {
    const known = this.knownCall(piece);
    if (known !== undefined) {
      this.continueName(known, piece);
      return known;
    }
    if (piece.name === undefined && piece.id === undefined && piece.args.trim() === '') return null;
    if (piece.index === undefined) this.answer.repair('missing_index');
    const call: Call = {
      key: `${this.calls.length}`,
      id: piece.id,
      name: piece.name ?? '',
      index: piece.index,
    };
    this.calls.push(call);
    this.answer.startCall(call.key, { id: piece.id, name: call.name });
    return call;
  }

  /**
   * The call that a piece goes on with. A piece without a name goes on with the call of its id or index, or
   * with the last one. A piece with a name does so only if the call has the same name, or none yet, and is
   * not complete before the piece begins with an object of its own.
   */
  private knownCall({ index, id, name, args }: Piece): Call | undefined {
    const last = index === undefined ? this.calls.at(-1) : undefined;
    const byIndex = this.lastAt(index);
    const byId = this.calls.findLast(
      (call) => id !== undefined && call.id === id && (index ?? call.index) === call.index,
    );
    if (name === undefined || name === '') {
      const isStray = id !== undefined && last !== undefined && this.hasCompleteArguments(last);
      return byId ?? byIndex ?? (isStray ? undefined : last);
    }
    const nameless = byIndex?.name === '' ? byIndex : undefined;
    const known = byId ?? (id === undefined ? (byIndex ?? last) : nameless);
    if (known === undefined || known.name === '') return known;
    const isNext = known.name !== name || (startsAnew(args) && this.isFollowedBy(known, args));
    return isNext ? undefined : known;
  }

  /** Whether a call is complete, and these arguments are not the same once more. */
  private isFollowedBy(call: Call, args: string): boolean {
    const before = this.answer.argumentsOf(call.key) ?? '';
    return isCompleteObject(before) && before.trim() !== args.trim();
  }

  private lastAt(index: number | undefined): Call | undefined {
    return index === undefined ? undefined : this.calls.findLast((call) => call.index === index);
  }

  private hasCompleteArguments({ key }: Call): boolean {
    return isCompleteObject(this.answer.argumentsOf(key) ?? '');
  }

  private continueName(call: Call, { name }: Piece): void {
    if (!name || name === call.name || call.name !== '') return;
    call.name = name;
    this.answer.nameCall(call.key, name);
  }

  private grow(call: Call, args: string): void {
    const before = this.answer.argumentsOf(call.key) ?? '';
    if (args !== '' && args.trim() === before.trim() && isCompleteObject(before)) {
      this.answer.repair('repeated_part');
      return;
    }
    this.answer.growArguments(call.key, args);
  }
}

function startsAnew(args: string): boolean {
  return /^\s*[{["]/.test(args);
}

function isCompleteObject(text: string): boolean {
  if (!/\}\s*$/.test(text.slice(-64))) return false;
  const parsed = parseLenientJson(text);
  return parsed.ok && isJsonObject(parsed.value);
}
