import type { JsonObject, JsonValue } from '../../base/json.ts';
import type { JudgedPath, ToolCaps, ToolOutput } from '../../protocol/tool.ts';
import type { AccessBasis } from '../task/call-process.ts';

/** The data of a call for the process of its task. */
export interface CallData {
  readonly taskId: string;
  readonly callId: string;
  readonly cwd: string;
  readonly caps: ToolCaps;
  readonly roots: readonly string[];
  readonly judged: readonly (readonly [asked: string, path: JudgedPath])[];
  readonly basis: AccessBasis | null;
  /** The optional ports that the call has. */
  readonly ports: { readonly keepFormer: boolean; readonly attach: boolean };
}

/** A message to the process of a task. `number` identifies a call in the process. */
export type MessageToProcess =
  | {
      readonly type: 'call';
      readonly number: number;
      readonly tool: string;
      readonly input: unknown;
      readonly data: CallData;
    }
  | { readonly type: 'abort'; readonly number: number }
  | ({ readonly type: 'answer'; readonly ask: number } & PortAnswer);

/** The answer of a port: a value, or the message of the error that it threw. */
export type PortAnswer = { readonly value: JsonValue } | { readonly error: string };

/** The ports that answer while the process waits, over the channel. */
export const QUERY_PORTS = [
  'seen',
  'remember',
  'willWrite',
  'willRemove',
  'changedBy',
  'removedBy',
  'acceptRemoval',
  'beginOwnChange',
  'endOwnChange',
  'nameTemporary',
  'saveText',
] as const;
export type QueryPort = (typeof QUERY_PORTS)[number];

/** The ports that answer later, over the stdin of the process. */
export const ASK_PORTS = ['keepFormer', 'refuseAttachment', 'addAttachment'] as const;
export type AskPort = (typeof ASK_PORTS)[number];

/** A message of the process of a task. The body of the frame belongs to `query` and `ask`. */
export type MessageFromProcess =
  | { readonly type: 'output'; readonly number: number; readonly output: ToolOutput }
  | { readonly type: 'threw'; readonly number: number; readonly message: string }
  | {
      readonly type: 'query';
      readonly number: number;
      readonly port: QueryPort;
      readonly args: readonly unknown[];
    }
  | {
      readonly type: 'ask';
      readonly number: number;
      readonly ask: number;
      readonly port: AskPort;
      readonly args: readonly unknown[];
    }
  | {
      readonly type: 'progress';
      readonly number: number;
      readonly line: string;
      readonly lines?: readonly string[];
    };

/** The arguments of a port as they arrive, before they are checked. */
export type PortArguments = readonly (JsonValue | undefined)[];

/** A message of the process as it arrives: its type and the number of its call are checked, the rest is not. */
export interface ReceivedMessage {
  readonly type: MessageFromProcess['type'];
  readonly number: number;
  readonly fields: JsonObject;
}

const TYPES: readonly MessageFromProcess['type'][] = [
  'output',
  'threw',
  'query',
  'ask',
  'progress',
];

/** Reads the type of a message and the number of its call. Returns null if it is no message of a process. */
export function readProcessMessage(header: JsonObject): ReceivedMessage | null {
  const { number } = header;
  const type = TYPES.find((each) => each === header['type']);
  return type === undefined || typeof number !== 'number' ? null : { type, number, fields: header };
}
