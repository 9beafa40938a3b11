import type { JsonObject, JsonValue } from '../../../base/json.ts';
import type { AnswerBuilder } from '../answers/answer-builder.ts';
import { areSameArguments, isCompleteJsonObject } from '../answers/call-arguments.ts';
import { asNumber, asObject, asObjects, asText } from '../answers/json-fields.ts';

/** A call of the answer. */
interface OpenCall {
  /** The key of the call in the builder. */
  readonly key: string;
  readonly id: string | undefined;
  name: string;
  readonly index: number | undefined;
  /** The number of the message or delta that contained the last piece of the call. */
  messageNumber: number;
  /** True if the name arrived again after the complete arguments. Later arguments then belong to another call. */
  isNamedAgain: boolean;
  /** True if the call arrived again from its beginning with the same id. Later arguments are then a repetition. */
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
  /** The number of messages and deltas so far. */
  private messageNumber = 0;

  constructor(answer: AnswerBuilder) {
    this.answer = answer;
  }

  /** Takes the calls of a delta. */
  take(delta: JsonObject): void {
    this.messageNumber += 1;
    for (const call of listCalls(delta)) this.takeCall(call);
  }

  /** Takes the calls of a message, which may repeat calls that were streamed before it. */
  takeMessage(message: JsonObject): void {
    this.messageNumber += 1;
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

  /** Finds the call that a message repeats: a call with the same name, arguments and, if there is an id, the same id. */
  private findRepeatedCall(
    { id, name, args }: CallPiece,
    calls: ReadonlySet<OpenCall>,
  ): OpenCall | undefined {
    const matches = [...calls].filter(
      (call) => call.name === name && areSameArguments(this.getArguments(call), args),
    );
    return matches.find((call) => call.id === id) ?? (id === undefined ? matches[0] : undefined);
  }

  private takeCall(sent: JsonObject): void {
    const piece = this.readPiece(sent);
    const call = this.findOrStart(piece);
    if (call !== null) this.appendPiece(call, piece);
    // Google's compatible server sends the signature of the thought in the field `extra_content`.
    const signature = asText(
      asObject(asObject(sent['extra_content'])?.['google'])?.['thought_signature'],
    );
    if (signature !== undefined) this.answer.addMetaToLastBlock({ thoughtSignature: signature });
  }

  private readPiece(sent: JsonObject): CallPiece {
    const inner = asObject(sent['function']) ?? sent;
    return {
      index: asNumber(sent['index']),
      id: asText(sent['id'])?.trim() || undefined,
      name: typeof inner['name'] === 'string' ? inner['name'] : undefined,
      args: this.toArgumentText(inner['arguments'] ?? inner['parameters']),
    };
  }

  private toArgumentText(args: JsonValue | undefined): string {
    if (typeof args === 'string') return args;
    if (args === undefined || args === null) return '';
    this.answer.repair('arguments_as_object');
    return JSON.stringify(args);
  }

  /** Returns the call to which a piece belongs, and starts the call if it is new; null: the piece is empty. */
  private findOrStart(piece: CallPiece): OpenCall | null {
    const known = this.findCall(piece);
    if (known !== undefined) {
      this.continueName(known, piece);
      return known;
    }
    if (piece.name === undefined && piece.id === undefined && piece.args.trim() === '') return null;
    if (piece.index === undefined) this.answer.repair('missing_index');
    // Arguments after a repeated name belong to a new call with that name.
    const before = this.findByIndexOrLast(piece.index);
    const name = piece.name || (before?.isNamedAgain === true ? before.name : '');
    const call: OpenCall = {
      key: `${this.calls.length}`,
      id: piece.id,
      name,
      index: piece.index,
      messageNumber: this.messageNumber,
      isNamedAgain: false,
      isRepeated: false,
    };
    this.calls.push(call);
    this.answer.startCall(call.key, { id: piece.id, name: call.name });
    return call;
  }

  /** Finds the call that a piece continues; undefined: the piece begins a new call. */
  private findCall(piece: CallPiece): OpenCall | undefined {
    const call = hasName(piece) ? this.findCallByName(piece) : this.findCallWithoutName(piece);
    const isNext = call?.isNamedAgain === true && piece.args.trim() !== '';
    return isNext ? undefined : call;
  }

  /** Finds the call that a piece without a name continues: the call with the same id or index, or else the last call. */
  private findCallWithoutName(piece: CallPiece): OpenCall | undefined {
    const known = this.findById(piece) ?? this.findByIndex(piece.index);
    if (known !== undefined || piece.index !== undefined) return known;
    const last = this.calls.at(-1);
    // A new id after a complete call begins another call, whose name is missing.
    const isNew = piece.id !== undefined && last !== undefined && this.hasCompleteArguments(last);
    return isNew ? undefined : last;
  }

  /** Finds the call that a piece continues although it contains a name. */
  private findCallByName(piece: CallPiece): OpenCall | undefined {
    const byId = this.findById(piece);
    const known = byId ?? this.findByIndexOrLast(piece.index);
    if (known === undefined) return undefined;
    const hasNewId = byId === undefined && piece.id !== undefined;
    // The name of the known call was missing so far, so this is its name.
    if (known.name === '') return hasNewId && piece.index === undefined ? undefined : known;
    if (known.name !== piece.name) return this.isNameContinued(known, piece) ? known : undefined;
    // With the same name and a new id, either the server invents an id for each piece, or this is another call.
    if (hasNewId) return this.isInsideArguments(known, piece) ? known : undefined;
    // A second call with the same name in one list is another call.
    const isInSameList = known.messageNumber === this.messageNumber && byId === undefined;
    if (isInSameList && this.hasCompleteArguments(known)) return undefined;
    return startsLikeValue(piece.args) && this.isFollowedByOtherCall(known, piece.args)
      ? undefined
      : known;
  }

  /**
   * Returns true if a different name continues the name of a call: the piece has an index, and no arguments have
   * arrived or only their beginning (Fireworks).
   */
  private isNameContinued(call: OpenCall, piece: CallPiece): boolean {
    const hasOtherId = piece.id !== undefined && piece.id !== call.id;
    if (piece.index === undefined || hasOtherId) return false;
    if (this.getArguments(call) !== '') {
      return piece.id === undefined && call.id !== undefined && this.isInsideArguments(call, piece);
    }
    return call.id !== undefined || piece.args === '';
  }

  /** Returns true if a piece can only continue the arguments of a call. */
  private isInsideArguments(call: OpenCall, piece: CallPiece): boolean {
    const before = this.getArguments(call);
    if (before === '') return piece.index !== undefined && piece.args !== '';
    if (isCompleteJsonObject(before)) return false;
    // A piece with a new object continues the arguments only if they end where a value is expected.
    return !/^\s*\{/.test(piece.args) || /[:,[]\s*$/.test(before.slice(-64));
  }

  /** Returns true if the arguments of a call are complete and `args` does not repeat them. */
  private isFollowedByOtherCall(call: OpenCall, args: string): boolean {
    const before = this.getArguments(call);
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
    return isCompleteJsonObject(this.getArguments(call));
  }

  /** Returns true if the arguments are complete and not an empty object, which is often only their beginning. */
  private hasNonEmptyArguments(call: OpenCall): boolean {
    return this.hasCompleteArguments(call) && this.getArguments(call).trim() !== '{}';
  }

  private getArguments({ key }: OpenCall): string {
    return this.answer.getArguments(key) ?? '';
  }

  private continueName(call: OpenCall, { name }: CallPiece): void {
    if (!name || name === call.name) return;
    call.name = name.startsWith(call.name) ? name : call.name + name;
    this.answer.nameCall(call.key, call.name);
  }

  private appendPiece(call: OpenCall, piece: CallPiece): void {
    const { args } = piece;
    call.messageNumber = this.messageNumber;
    const isEmpty = args.trim() === '';
    // Arguments are parsed only if the piece may repeat them, because parsing them for each piece would take too long.
    const mayRepeat = call.isRepeated || startsLikeValue(args) || (isEmpty && hasName(piece));
    if (mayRepeat && this.hasNonEmptyArguments(call)) {
      if (isEmpty && hasName(piece)) {
        if (piece.id === undefined) call.isNamedAgain = true;
        else call.isRepeated = true;
        return;
      }
      if (call.isRepeated || areSameArguments(this.getArguments(call), args)) {
        this.answer.repair('repeated_part');
        return;
      }
    }
    this.answer.appendArguments(call.key, args);
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
