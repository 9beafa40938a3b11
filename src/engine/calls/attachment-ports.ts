import { hash } from 'node:crypto';
import {
  isImage,
  type Attachment,
  type AttachmentDetails,
  type AttachPort,
  type AttachmentRules,
  type AttachmentRefusal,
} from '../../protocol/attachment.ts';
import { attachmentsOf } from '../../protocol/message.ts';
import type { ResolvedModel } from '../../protocol/model.ts';
import type { EngineDeps } from '../task/deps.ts';
import type { TaskRun } from '../task/task-run.ts';

/**
 * The maximum number of images in one request. If a request has more than 20 images, Anthropic refuses those of more
 * than 2000 pixels a side (https://platform.claude.com/docs/en/build-with-claude/vision, looked up 2026-11-22).
 */
const MAX_IMAGES = 20;
/**
 * The maximum number of bytes of images and documents in one request, before base64, which adds a third. Google accepts
 * requests of 20 MB (https://firebase.google.com/docs/ai-logic/input-file-requirements), Anthropic of 32 MB.
 */
const MAX_ATTACHMENT_BYTES = 14_000_000;

/** Creates the port through which a tool call adds images and documents to the conversation of its task. */
export function createCallAttachPort(
  deps: Pick<EngineDeps, 'models' | 'store'>,
  run: TaskRun,
  callId: string,
): AttachPort {
  // Each request holds the full conversation, and servers limit the attachments of one request. So all attachments of
  // the conversation count, including those of calls that are still running.
  const listAll = () => [...listAttachments(run), ...[...run.pendingAttachments.values()].flat()];
  const refuse: AttachmentCheck = (details, rules) =>
    rules.refusal(details) ?? refuseWithoutRoom(listAll(), details);
  return createStoringPort(deps, run.spec.model, refuse, (details, rules) => {
    const reason = refuse(details, rules);
    // The attachment is counted here until the outcome of the call is recorded, which then contains it.
    if (reason === null) {
      run.pendingAttachments.set(callId, [...(run.pendingAttachments.get(callId) ?? []), details]);
    }
    return reason;
  });
}

/**
 * Creates the port for images and documents that a user quotes in a message.
 *
 * @param others returns the attachments that were already quoted in the message
 */
export function createQuoteAttachPort(
  deps: Pick<EngineDeps, 'models' | 'store'>,
  { spec, state }: Pick<TaskRun, 'spec' | 'state'>,
  others: () => readonly Attachment[],
): AttachPort {
  return createStoringPort(
    deps,
    spec.model,
    (details, rules) =>
      rules.refusal(details) ??
      refuseWithoutRoom([...listAttachments({ state }), ...others()], details),
  );
}

/**
 * Returns the reason why an attachment can't be added, or null if it can. It is synchronous, because other calls of the
 * same message check at the same time.
 */
type AttachmentCheck = (details: AttachmentDetails, rules: AttachmentRules) => AttachmentRefusal;

/** `checkAndReserve`: a check that also counts an accepted attachment, so that the next check includes it. */
function createStoringPort(
  { models, store }: Pick<EngineDeps, 'models' | 'store'>,
  model: ResolvedModel,
  refuse: AttachmentCheck,
  checkAndReserve = refuse,
): AttachPort {
  const loadRules = async () => (await models.attachments?.(model)) ?? UNKNOWN_MODEL_RULES;
  return {
    refusal: async (details) => refuse(details, await loadRules()),
    async add(details, bytes) {
      const rules = await loadRules();
      const reason = checkAndReserve(details, rules);
      if (reason !== null) return reason;
      return { ...details, tokens: rules.tokens(details), blob: store.putAttachment(bytes) };
    },
    addAgain: async (details) => checkAndReserve(details, await loadRules()),
  };
}

/** Creates a port that only checks whether a model accepts an attachment. It stores nothing. */
export function createPreviewAttachPort(
  models: EngineDeps['models'],
  model: ResolvedModel,
): AttachPort {
  const refusal = async (details: AttachmentDetails) =>
    ((await models.attachments?.(model)) ?? UNKNOWN_MODEL_RULES).refusal(details);
  return {
    refusal,
    add: async (details, bytes) =>
      (await refusal(details)) ?? { ...details, tokens: 0, blob: hash('sha256', bytes) },
    addAgain: refusal,
  };
}

const UNKNOWN_MODEL_RULES: AttachmentRules = {
  refusal: () => 'nothing is known of what this model takes',
  tokens: () => 0,
};

/** Returns the reason if an attachment would exceed the limits of one request, or null. */
function refuseWithoutRoom(
  all: readonly AttachmentDetails[],
  details: AttachmentDetails,
): AttachmentRefusal {
  const images = all.filter(isImage).length;
  if (isImage(details) && images >= MAX_IMAGES) {
    return `this conversation holds ${images} images (limit images = ${MAX_IMAGES}). Hand it to a subagent, which begins with none`;
  }
  const bytes = all.reduce((sum, each) => sum + each.bytes, details.bytes);
  return bytes <= MAX_ATTACHMENT_BYTES
    ? null
    : `with it the images and documents of this conversation would have ${bytes} bytes (limit attachment_bytes = ${MAX_ATTACHMENT_BYTES}). Hand it to a subagent, which begins with none`;
}

/** Lists the attachments of the messages, and those of results and inputs that the next request will add. */
function listAttachments({ state }: Pick<TaskRun, 'state'>): readonly Attachment[] {
  const { messages, results, queued } = state.conversation;
  const enclosed = queued.flatMap((input) => input.enclosed ?? []);
  const unsent = [...results.values(), ...enclosed].flatMap(({ attachments = [] }) => attachments);
  return [...attachmentsOf(messages), ...unsent];
}
