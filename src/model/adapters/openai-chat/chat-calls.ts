import type { JsonObject, JsonValue } from '../../../base/json.ts';
import type { AnswerBuilder } from '../answers/answer-builder.ts';
import { areSameArguments, isCompleteJsonObject } from '../answers/call-arguments.ts';
import { asNumber, asObject, asObjects, asText } from '../answers/answer-reader.ts';

interface Call {
  /** Its key in the builder. */
  readonly key: string;
  readonly id: string | undefined;
  name: string;
  readonly index: number | undefined;
  /** Number of the message or delta that its last piece came in. */
  batch: number;
  /** Its name came again behind its complete arguments: arguments that follow belong to another call. */
  isNamedAgain: boolean;
  /** It came again from its beginning under the same id: arguments that follow are the same once more. */
  isRepeated: boolean;
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
  private batch = 0;

  constructor(answer: AnswerBuilder) {
    this.answer = answer;
  }

  /** Takes the calls of a delta. */
  take(delta: JsonObject): void {
    this.batch += 1;
    for (const call of sentCalls(delta)) this.takeCall(call);
  }

  /** Takes the calls of a message, which repeats the calls that were streamed before it. */
  takeMessage(message: JsonObject): void {
    this.batch += 1;
    const unrepeated = new Set(this.calls);
    for (const sent of sentCalls(message)) {
      const repeated = this.repeatedCall(this.pieceOf(sent), unrepeated);
      if (repeated === undefined) this.takeCall(sent);
      else {
        unrepeated.delete(repeated);
        this.answer.repair('repeated_part');
      }
    }
  }

  /** The call among these that a message repeats: the same name and arguments, and the same id if it has one. */
  private repeatedCall({ id, name, args }: Piece, calls: ReadonlySet<Call>): Call | undefined {
    const isSame = (call: Call): boolean =>
      call.name === name && areSameArguments(this.argumentsOf(call), args);
    const same = [...calls].filter(isSame);
    return same.find((call) => call.id === id) ?? (id === undefined ? same[0] : undefined);
  }

  private takeCall(sent: JsonObject): void {
    const piece = this.pieceOf(sent);
    const call = this.callOf(piece);
    if (call !== null) this.grow(call, piece);
    // Google's compatible server puts the signature of the thought here.
    const signature = asText(
      asObject(asObject(sent['extra_content'])?.['google'])?.['thought_signature'],
    );
    if (signature !== undefined) this.answer.annotateLast({ thoughtSignature: signature });
  }

  private pieceOf(sent: JsonObject): Piece {
    const inner = asObject(sent['function']) ?? sent;
    return {
      index: asNumber(sent['index']),
      id: asText(sent['id'])?.trim() || undefined,
      name: typeof inner['name'] === 'string' ? inner['name'] : undefined,
      args: this.argumentText(inner['arguments'] ?? inner['parameters']),
    };
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
    // Arguments behind a name that came again belong to a call of that name.
    const before = this.callAt(piece.index);
    const name = piece.name || (before?.isNamedAgain === true ? before.name : '');
    const call: Call = {
      key: `${this.calls.length}`,
      id: piece.id,
      name,
      index: piece.index,
      batch: this.batch,
      isNamedAgain: false,
      isRepeated: false,
    };
    this.calls.push(call);
    this.answer.startCall(call.key, { id: piece.id, name: call.name });
    return call;
  }

  /** The call that a piece goes on with; undefined: it begins a call. */
  private knownCall(piece: Piece): Call | undefined {
    const call = hasName(piece) ? this.namedCall(piece) : this.namelessCall(piece);
    const isNext = call?.isNamedAgain === true && piece.args.trim() !== '';
    return isNext ? undefined : call;
  }

  /** The call that a piece without a name goes on with: that of its id, of its index, or the last one. */
  private namelessCall(piece: Piece): Call | undefined {
    const byPlace = this.callOfId(piece) ?? this.lastAt(piece.index);
    if (byPlace !== undefined || piece.index !== undefined) return byPlace;
    const last = this.calls.at(-1);
    // A new id behind a complete call begins another one, whose name is missing.
    const isStray = piece.id !== undefined && last !== undefined && this.hasCompleteArguments(last);
    return isStray ? undefined : last;
  }

  /** The call that a piece with a name goes on with, although it has a name. */
  private namedCall(piece: Piece): Call | undefined {
    const byId = this.callOfId(piece);
    const byPlace = this.callAt(piece.index);
    const known = byId ?? byPlace;
    if (known === undefined) return undefined;
    const hasNewId = byId === undefined && piece.id !== undefined;
    // Its name was missing so far.
    if (known.name === '') return hasNewId && piece.index === undefined ? undefined : known;
    if (known.name !== piece.name) return this.isNameGoingOn(known, piece) ? known : undefined;
    // The same name under a new id: the server makes up an id for each piece, or this is another call.
    if (hasNewId) return this.isInsideArguments(known, piece) ? known : undefined;
    // The same call once more in one list is a call of its own.
    const isInSameList = known.batch === this.batch && byId === undefined;
    if (isInSameList && this.hasCompleteArguments(known)) return undefined;
    return startsAnew(piece.args) && this.isFollowedBy(known, piece.args) ? undefined : known;
  }

  /** Whether a name goes on in pieces, or grows: the call has an index and no arguments yet. */
  private isNameGoingOn(call: Call, piece: Piece): boolean {
    const hasOtherId = piece.id !== undefined && piece.id !== call.id;
    if (piece.index === undefined || hasOtherId || this.argumentsOf(call) !== '') return false;
    return call.id !== undefined || piece.args === '';
  }

  /** Whether a piece can only be the next part of the arguments of a call. */
  private isInsideArguments(call: Call, piece: Piece): boolean {
    const before = this.argumentsOf(call);
    if (before === '') return piece.index !== undefined && piece.args !== '';
    if (isCompleteJsonObject(before)) return false;
    // An object inside the arguments can begin only where a value is expected.
    return !/^\s*\{/.test(piece.args) || /[:,[]\s*$/.test(before.slice(-64));
  }

  /** Whether a call is complete, and these arguments are not the same once more. */
  private isFollowedBy(call: Call, args: string): boolean {
    const before = this.argumentsOf(call);
    return isCompleteJsonObject(before) && !areSameArguments(before, args);
  }

  private callOfId({ id, index }: Piece): Call | undefined {
    if (id === undefined) return undefined;
    return this.calls.findLast((call) => call.id === id && (index ?? call.index) === call.index);
  }

  /** The last call at an index; without an index, the last call. */
  private callAt(index: number | undefined): Call | undefined {
    return index === undefined ? this.calls.at(-1) : this.lastAt(index);
  }

  private lastAt(index: number | undefined): Call | undefined {
    return index === undefined ? undefined : this.calls.findLast((call) => call.index === index);
  }

  private hasCompleteArguments(call: Call): boolean {
    return isCompleteJsonObject(this.argumentsOf(call));
  }

  /** Whether its arguments are complete; an empty object is often only where they begin. */
  private hasArguments(call: Call): boolean {
    return this.hasCompleteArguments(call) && this.argumentsOf(call).trim() !== '{}';
  }

  private argumentsOf({ key }: Call): string {
    return this.answer.argumentsOf(key) ?? '';
  }

  private continueName(call: Call, { name }: Piece): void {
    if (!name || name === call.name) return;
    call.name = name.startsWith(call.name) ? name : call.name + name;
    this.answer.nameCall(call.key, call.name);
  }

  private grow(call: Call, piece: Piece): void {
    const { args } = piece;
    call.batch = this.batch;
    const isEmpty = args.trim() === '';
    // To read the arguments for each piece would take too long.
    const mayRepeat = call.isRepeated || startsAnew(args) || (isEmpty && hasName(piece));
    if (mayRepeat && this.hasArguments(call)) {
      if (isEmpty && hasName(piece)) {
        if (piece.id === undefined) call.isNamedAgain = true;
        else call.isRepeated = true;
        return;
      }
      if (call.isRepeated || areSameArguments(this.argumentsOf(call), args)) {
        this.answer.repair('repeated_part');
        return;
      }
    }
    this.answer.growArguments(call.key, args);
  }
}

/** The calls of a delta or message. */
function sentCalls(holder: JsonObject): readonly JsonObject[] {
  // The field before `tool_calls`; some servers still send it.
  const single = asObject(holder['function_call']);
  const calls = asObjects(holder['tool_calls']);
  return single === undefined ? calls : [...calls, { index: 0, function: single }];
}

function hasName({ name }: Piece): boolean {
  return name !== undefined && name !== '';
}

function startsAnew(args: string): boolean {
  return /^\s*[{["]/.test(args);
}
