import { isInside } from '../../base/path-inside.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../base/json.ts';
import {
  ATTACHMENT_TYPES,
  type Attachment,
  type AttachmentDetails,
} from '../../protocol/attachment.ts';
import type { ToolContext } from '../../protocol/tool.ts';
import { beginOwnChange, endOwnChange } from '../../sys/files/own-writes.ts';
import { addGivenName } from '../../sys/files/temporary-files.ts';
import { spillText } from '../../tools/shared/output.ts';
import {
  ASK_PORTS,
  QUERY_PORTS,
  type AskPort,
  type PortArguments,
  type QueryPort,
} from './messages.ts';

/** A call that runs in the process of its task, as far as its ports need it. */
export interface CallWithPorts {
  readonly context: ToolContext;
  /** The real paths that the call was allowed to change. A directory includes everything in it. */
  readonly writes: readonly string[];
  /** The attachments that the call has added. */
  readonly attachments: Attachment[];
}

/** An argument of a port is wrong, so the process is not what Muster started. */
export class WrongArguments extends Error {}

type Query = (call: CallWithPorts, args: PortArguments) => JsonValue;
type Ask = (call: CallWithPorts, args: PortArguments, body: Buffer) => Promise<JsonValue>;

/** The answers of the ports that the process waits for. */
const QUERIES: Readonly<Record<QueryPort, Query>> = {
  seen: ({ context }, [path]) => context.files.seen(text(path)) ?? null,
  remember: ({ context }, [path, hash]) =>
    done(() => context.files.remember(text(path), text(hash))),
  willWrite: ({ context }, [path, hash]) =>
    done(() => context.files.willWrite(text(path), text(hash))),
  willRemove: ({ context }, [path]) => done(() => context.files.willRemove(text(path))),
  changedBy: ({ context }, [path, hash]) => context.files.changedBy(text(path), text(hash)) ?? null,
  removedBy: ({ context }, [path]) => context.files.removedBy(text(path)) ?? null,
  acceptRemoval: ({ context }, [path]) => context.files.acceptRemoval(text(path)),
  // Otherwise the process could claim what a command changes as its own.
  beginOwnChange: ({ writes }, [path]) =>
    done(() => {
      if (isAmong(text(path), writes)) beginOwnChange(text(path));
    }),
  endOwnChange: ({ writes }, [path]) =>
    done(() => {
      if (isAmong(text(path), writes)) endOwnChange(text(path));
    }),
  nameTemporary: (_, [name]) => done(() => addGivenName(text(name))),
  saveText: ({ context }, [saved]) => spillText(text(saved), context),
};

/** The answers of the ports that take their time. */
const ASKS: Readonly<Record<AskPort, Ask>> = {
  keepFormer: async ({ context }, _, body) => {
    await context.keepFormer?.(body);
    return null;
  },
  refuseAttachment: async ({ context }, [details]) =>
    (await context.attach?.refusal(readDetails(details))) ?? null,
  addAttachment: async ({ context, attachments }, [details], body) => {
    const added = await context.attach?.add({ ...readDetails(details), bytes: body.length }, body);
    if (added === undefined) return NO_ATTACHMENTS;
    if (typeof added === 'string') return added;
    attachments.push(added);
    return { ...added };
  },
};

const NO_ATTACHMENTS = 'this call can add no attachments';

/** Answers a port at once. Throws `WrongArguments`, or the error of the port. */
export function answerQuery(call: CallWithPorts, port: unknown, args: PortArguments): JsonValue {
  const name = QUERY_PORTS.find((each) => each === port);
  if (name === undefined) throw new WrongArguments();
  return QUERIES[name](call, args);
}

/** Answers a port later. Rejects with `WrongArguments`, or with the error of the port. */
export async function answerAsk(
  call: CallWithPorts,
  {
    port,
    args,
    body,
  }: { readonly port: unknown; readonly args: PortArguments; readonly body: Buffer },
): Promise<JsonValue> {
  const name = ASK_PORTS.find((each) => each === port);
  if (name === undefined) throw new WrongArguments();
  return await ASKS[name](call, args, body);
}

/** Does what a port without a value is for, and returns its answer. */
function done(act: () => void): null {
  act();
  return null;
}

function text(value: JsonValue | undefined): string {
  if (typeof value !== 'string') throw new WrongArguments();
  return value;
}

function isAmong(path: string, writes: readonly string[]): boolean {
  return writes.some((each) => isInside(each, path));
}

function readDetails(value: JsonValue | undefined): AttachmentDetails {
  if (!isJsonObject(value)) throw new WrongArguments();
  const type = ATTACHMENT_TYPES.find((each) => each === value['type']);
  const { bytes } = value;
  if (type === undefined || typeof bytes !== 'number') throw new WrongArguments();
  return { type, bytes, ...readSizes(value) };
}

const SIZES = ['width', 'height', 'frames', 'pages'] as const;

function readSizes(value: JsonObject): Pick<AttachmentDetails, (typeof SIZES)[number]> {
  return Object.fromEntries(
    SIZES.flatMap((name) =>
      typeof value[name] === 'number' ? [[name, value[name]] as const] : [],
    ),
  );
}
