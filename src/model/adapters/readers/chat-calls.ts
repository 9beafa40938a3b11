import { isDeepStrictEqual } from 'node:util';
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
  /** The name of a call that may follow a complete one at its index; its arguments have not come yet. */
  private announced: { readonly index: number | undefined; readonly name: string } | null = null;
  /** Number of calls before the list that is being read: two calls of one list are never the same one. */
  private before = 0;

  constructor(answer: AnswerBuilder) {
    this.answer = answer;
  }

  /** Takes the calls of a delta or message. */
  take(delta: JsonObject): void {
    this.before = this.calls.length;
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
    if (known !== undefined && this.announces(known, piece)) return null;
    if (known !== undefined && !this.beginsAnnounced(known, piece)) {
      this.continueName(known, piece);
      return known;
    }
    const name = piece.name || this.announced?.name;
    this.announced = null;
    if (name === undefined && piece.id === undefined && piece.args.trim() === '') return null;
    if (piece.index === undefined) this.answer.repair('missing_index');
    const call: Call = {
      key: `${this.calls.length}`,
      id: piece.id,
      name: name ?? '',
      index: piece.index,
    };
    this.calls.push(call);
    this.answer.startCall(call.key, { id: piece.id, name: call.name });
    return call;
  }

  /** Whether a piece brings only a name behind a complete call: it repeats that name, or a next call has it. */
  private announces(call: Call, { index, id, name, args }: Piece): boolean {
    if (!name || id !== undefined || args !== '' || !this.hasCompleteArguments(call)) return false;
    this.announced = { index, name };
    return true;
  }

  private beginsAnnounced(call: Call, { index, name, args }: Piece): boolean {
    return (
      this.announced !== null &&
      this.announced.index === index &&
      !name &&
      startsAnew(args) &&
      this.hasCompleteArguments(call)
    );
  }

  /** The call that a piece goes on with; undefined if a new call begins with it. */
  private knownCall(piece: Piece): Call | undefined {
    const { index, id, name, args } = piece;
    const last = index === undefined ? this.calls.at(-1) : undefined;
    const byIndex = this.lastAt(index);
    const byId = this.calls.findLast(
      (call) => id !== undefined && call.id === id && (index ?? call.index) === call.index,
    );
    // Without a name: the call of its id or index, or the last one, unless that is complete.
    if (name === undefined || name === '') {
      const isStray = id !== undefined && last !== undefined && this.hasCompleteArguments(last);
      return byId ?? byIndex ?? (isStray ? undefined : last);
    }
    // With a name and an id: that call, or one at its index that lacks a name or the rest of its arguments.
    const unfinished =
      byIndex !== undefined && this.isGoneOnWith(byIndex, piece) ? byIndex : undefined;
    const known = byId ?? (id === undefined ? (byIndex ?? last) : unfinished);
    if (known === undefined || known.name === '') return known;
    if (isPieceOfName(known, piece) && this.argumentsOf(known) === '') return known;
    // With another name, or with arguments of its own behind a complete call: a new one.
    const isNext = known.name !== name || (startsAnew(args) && this.isFollowedBy(known, piece));
    return isNext ? undefined : known;
  }

  /** Whether a piece under a new id goes on with a call: it brings its name, or more of its arguments. */
  private isGoneOnWith(call: Call, { name, args }: Piece): boolean {
    if (call.name === '') return true;
    return call.name === name && !startsAnew(args) && this.argumentsOf(call) !== '';
  }

  /** Whether a call is complete, and these arguments are not the same once more. */
  private isFollowedBy(call: Call, { id, args }: Piece): boolean {
    const before = this.argumentsOf(call);
    if (!isCompleteObject(before)) return false;
    const isOfThisList = this.calls.indexOf(call) >= this.before;
    return (isOfThisList && id === undefined) || !isSameValue(before, args);
  }

  private lastAt(index: number | undefined): Call | undefined {
    return index === undefined ? undefined : this.calls.findLast((call) => call.index === index);
  }

  private argumentsOf({ key }: Call): string {
    return this.answer.argumentsOf(key) ?? '';
  }

  private hasCompleteArguments(call: Call): boolean {
    return isCompleteObject(this.argumentsOf(call));
  }

  private continueName(call: Call, piece: Piece): void {
    const { name } = piece;
    if (!name || name === call.name) return;
    if (call.name !== '' && !isPieceOfName(call, piece)) return;
    call.name = name.startsWith(call.name) ? name : call.name + name;
    this.answer.nameCall(call.key, call.name);
  }

  private grow(call: Call, args: string): void {
    const before = this.argumentsOf(call);
    if (args !== '' && isCompleteObject(before) && isSameValue(before, args)) {
      this.answer.repair('repeated_part');
      return;
    }
    this.answer.growArguments(call.key, args);
  }
}

/** Whether a name goes on with that of a call: the id came with its beginning, and the index is the same. */
function isPieceOfName(call: Call, { index, id, name }: Piece): boolean {
  const isSame = index !== undefined && index === call.index;
  return isSame && call.id !== undefined && id === undefined && name !== call.name;
}

function isSameValue(one: string, other: string): boolean {
  if (one.trim() === other.trim()) return true;
  const [first, second] = [parseLenientJson(one), parseLenientJson(other)];
  return first.ok && second.ok && isDeepStrictEqual(first.value, second.value);
}

function startsAnew(args: string): boolean {
  return /^\s*[{["]/.test(args);
}

function isCompleteObject(text: string): boolean {
  if (!/\}\s*$/.test(text.slice(-64))) return false;
  const parsed = parseLenientJson(text);
  return parsed.ok && isJsonObject(parsed.value);
}
