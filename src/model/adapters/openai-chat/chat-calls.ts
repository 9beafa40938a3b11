import type { JsonObject, JsonValue } from '../../../base/json.ts';
import type { AnswerBuilder } from '../answers/answer-builder.ts';
import { areSameArguments, isCompleteJsonObject } from '../answers/call-arguments.ts';
import { asNumber, asObject, asObjects, asText } from '../answers/json-fields.ts';

interface OpenCall {
  /** The key of the call in the builder. */
  readonly key: string;
  readonly id: string | undefined;
  name: string;
  readonly index: number | undefined;
  /** The number of the message or delta with its last piece. */
  batch: number;
  /** True if its name came again after its complete arguments: later arguments belong to another call. */
  isNamedAgain: boolean;
  /** True if it came again from its beginning under the same id: later arguments are a repetition. */
  isRepeated: boolean;
}

/** One piece of a call as a server sent it. */
interface CallPiece {
  readonly index: number | undefined;
  readonly id: string | undefined;
  readonly name: string | undefined;
  readonly args: string;
}

/**
 * Assembles the calls of a Chat answer. Servers leave out indexes and ids, use the same ones for several calls,
 * repeat the name or the full call, and send arguments as objects.
 */
export class ChatCalls {
  private readonly answer: AnswerBuilder;
  private readonly calls: OpenCall[] = [];
  private batch = 0;

  constructor(answer: AnswerBuilder) {
    this.answer = answer;
  }

  /** Takes the calls of a delta. */
  take(delta: JsonObject): void {
    this.batch += 1;
    for (const call of listCalls(delta)) this.takeCall(call);
  }

  /** Takes the calls of a message, which may repeat calls that were streamed before it. */
  takeMessage(message: JsonObject): void {
    this.batch += 1;
    const unrepeated = new Set(this.calls);
    for (const sent of listCalls(message)) {
      const repeated = this.findRepeatedCall(this.readPiece(sent), unrepeated);
      if (repeated === undefined) this.takeCall(sent);
      else {
        unrepeated.delete(repeated);
        this.answer.repair('repeated_part');
      }
    }
  }

  /** Finds the call that a message repeats: it has the same name and arguments, and the same id if there is one. */
  private findRepeatedCall(
    { id, name, args }: CallPiece,
    calls: ReadonlySet<OpenCall>,
  ): OpenCall | undefined {
    const isSame = (call: OpenCall): boolean =>
      call.name === name && areSameArguments(this.argumentsOf(call), args);
    const same = [...calls].filter(isSame);
    return same.find((call) => call.id === id) ?? (id === undefined ? same[0] : undefined);
  }

  private takeCall(sent: JsonObject): void {
    const piece = this.readPiece(sent);
    const call = this.findOrStart(piece);
    if (call !== null) this.grow(call, piece);
    // Google's compatible server puts the signature of the thought into this field.
    const signature = asText(
      asObject(asObject(sent['extra_content'])?.['google'])?.['thought_signature'],
    );
    if (signature !== undefined) this.answer.annotateLast({ thoughtSignature: signature });
  }

  private readPiece(sent: JsonObject): CallPiece {
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

  /** Returns the call that a piece belongs to, and starts it if it is new; null: the piece is empty. */
  private findOrStart(piece: CallPiece): OpenCall | null {
    const known = this.findCall(piece);
    if (known !== undefined) {
      this.continueName(known, piece);
      return known;
    }
    if (piece.name === undefined && piece.id === undefined && piece.args.trim() === '') return null;
    if (piece.index === undefined) this.answer.repair('missing_index');
    // Arguments after a repeated name belong to a new call of that name.
    const before = this.findByIndexOrLast(piece.index);
    const name = piece.name || (before?.isNamedAgain === true ? before.name : '');
    const call: OpenCall = {
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

  /** Finds the call that a piece continues; undefined: it begins a call. */
  private findCall(piece: CallPiece): OpenCall | undefined {
    const call = hasName(piece) ? this.findCallByName(piece) : this.findCallWithoutName(piece);
    const isNext = call?.isNamedAgain === true && piece.args.trim() !== '';
    return isNext ? undefined : call;
  }

  /** Finds the call that a piece without a name continues: the one with its id or its index, or the last one. */
  private findCallWithoutName(piece: CallPiece): OpenCall | undefined {
    const byPlace = this.findById(piece) ?? this.findByIndex(piece.index);
    if (byPlace !== undefined || piece.index !== undefined) return byPlace;
    const last = this.calls.at(-1);
    // A new id after a complete call begins another call, of which the name is missing.
    const isStray = piece.id !== undefined && last !== undefined && this.hasCompleteArguments(last);
    return isStray ? undefined : last;
  }

  /** Finds the call that a piece continues although it contains a name. */
  private findCallByName(piece: CallPiece): OpenCall | undefined {
    const byId = this.findById(piece);
    const byPlace = this.findByIndexOrLast(piece.index);
    const known = byId ?? byPlace;
    if (known === undefined) return undefined;
    const hasNewId = byId === undefined && piece.id !== undefined;
    // The name of the call was missing so far.
    if (known.name === '') return hasNewId && piece.index === undefined ? undefined : known;
    if (known.name !== piece.name) return this.isNameContinued(known, piece) ? known : undefined;
    // The same name with a new id: the server makes up an id for each piece, or this is another call.
    if (hasNewId) return this.isInsideArguments(known, piece) ? known : undefined;
    // A second call with the same name in one list is another call.
    const isInSameList = known.batch === this.batch && byId === undefined;
    if (isInSameList && this.hasCompleteArguments(known)) return undefined;
    return startsLikeValue(piece.args) && this.isFollowedBy(known, piece.args) ? undefined : known;
  }

  /**
   * Returns true if a name comes in pieces or grows: the call has an index, and no arguments yet or only their
   * beginning (Fireworks).
   */
  private isNameContinued(call: OpenCall, piece: CallPiece): boolean {
    const hasOtherId = piece.id !== undefined && piece.id !== call.id;
    if (piece.index === undefined || hasOtherId) return false;
    if (this.argumentsOf(call) !== '') {
      return piece.id === undefined && call.id !== undefined && this.isInsideArguments(call, piece);
    }
    return call.id !== undefined || piece.args === '';
  }

  /** Returns true if a piece can only be the next part of the arguments of a call. */
  private isInsideArguments(call: OpenCall, piece: CallPiece): boolean {
    const before = this.argumentsOf(call);
    if (before === '') return piece.index !== undefined && piece.args !== '';
    if (isCompleteJsonObject(before)) return false;
    // An object inside the arguments can begin only where a value is expected.
    return !/^\s*\{/.test(piece.args) || /[:,[]\s*$/.test(before.slice(-64));
  }

  /** Returns true if a call is complete and these arguments do not repeat its own. */
  private isFollowedBy(call: OpenCall, args: string): boolean {
    const before = this.argumentsOf(call);
    return isCompleteJsonObject(before) && !areSameArguments(before, args);
  }

  private findById({ id, index }: CallPiece): OpenCall | undefined {
    if (id === undefined) return undefined;
    return this.calls.findLast((call) => call.id === id && (index ?? call.index) === call.index);
  }

  /** Finds the last call with an index; without an index, the last call. */
  private findByIndexOrLast(index: number | undefined): OpenCall | undefined {
    return index === undefined ? this.calls.at(-1) : this.findByIndex(index);
  }

  private findByIndex(index: number | undefined): OpenCall | undefined {
    return index === undefined ? undefined : this.calls.findLast((call) => call.index === index);
  }

  private hasCompleteArguments(call: OpenCall): boolean {
    return isCompleteJsonObject(this.argumentsOf(call));
  }

  /** Returns true if the arguments are complete. An empty object is often only their beginning. */
  private hasArguments(call: OpenCall): boolean {
    return this.hasCompleteArguments(call) && this.argumentsOf(call).trim() !== '{}';
  }

  private argumentsOf({ key }: OpenCall): string {
    return this.answer.argumentsOf(key) ?? '';
  }

  private continueName(call: OpenCall, { name }: CallPiece): void {
    if (!name || name === call.name) return;
    call.name = name.startsWith(call.name) ? name : call.name + name;
    this.answer.nameCall(call.key, call.name);
  }

  private grow(call: OpenCall, piece: CallPiece): void {
    const { args } = piece;
    call.batch = this.batch;
    const isEmpty = args.trim() === '';
    // The arguments are parsed only if the piece may repeat them: parsing them for each piece would take too long.
    const mayRepeat = call.isRepeated || startsLikeValue(args) || (isEmpty && hasName(piece));
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

/** Lists the calls of a delta or message. */
function listCalls(holder: JsonObject): readonly JsonObject[] {
  // Some servers still send the predecessor of `tool_calls`.
  const single = asObject(holder['function_call']);
  const calls = asObjects(holder['tool_calls']);
  return single === undefined ? calls : [...calls, { index: 0, function: single }];
}

function hasName({ name }: CallPiece): boolean {
  return name !== undefined && name !== '';
}

function startsLikeValue(args: string): boolean {
  return /^\s*[{["]/.test(args);
}
