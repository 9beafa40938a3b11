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
 * The most images in one request. Anthropic refuses images of more than 2000 pixels a side in a request of more
 * than 20 (https://platform.claude.com/docs/en/build-with-claude/vision, looked up 2026-11-22).
 */
const MAX_IMAGES = 20;
/**
 * The most bytes of images and documents in one request, a third less than on the wire: Google takes 20 MB
 * (https://firebase.google.com/docs/ai-logic/input-file-requirements), Anthropic 32 MB.
 */
const MAX_BYTES = 14_000_000;

/** Creates the port by which a tool call adds images and documents to its task's conversation. */
export function createCallAttachPort(
  deps: Pick<EngineDeps, 'models' | 'store'>,
  run: TaskRun,
  callId: string,
): AttachPort {
  // A conversation is sent again with each request, and servers limit the attachments of one request.
  const all = () => [...listAttachments(run), ...[...run.attaching.values()].flat()];
  const refuse: Check = (details, rules) =>
    rules.refusal(details) ?? refuseWithoutRoom(all(), details);
  return createStoringPort(deps, run.spec.model, refuse, (details, rules) => {
    const reason = refuse(details, rules);
    // The attachment counts as one of this call until the call has its outcome.
    if (reason === null) {
      run.attaching.set(callId, [...(run.attaching.get(callId) ?? []), details]);
    }
    return reason;
  });
}

/**
 * Creates the port for images and documents that a user quotes in a message.
 *
 * @param others returns the attachments that the message already holds
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

/** Says why an attachment can't be added; synchronous, because other calls of the same message check at the same time. */
type Check = (details: AttachmentDetails, rules: AttachmentRules) => AttachmentRefusal;

function createStoringPort(
  { models, store }: Pick<EngineDeps, 'models' | 'store'>,
  model: ResolvedModel,
  refuse: Check,
  admit = refuse,
): AttachPort {
  const loadRules = async () => (await models.attachments?.(model)) ?? UNKNOWN_MODEL_RULES;
  return {
    refusal: async (details) => refuse(details, await loadRules()),
    async add(details, bytes) {
      const rules = await loadRules();
      const reason = admit(details, rules);
      if (reason !== null) return reason;
      return { ...details, tokens: rules.tokens(details), blob: store.putAttachment(bytes) };
    },
    addAgain: async (details) => admit(details, await loadRules()),
  };
}

/** Creates a port that says whether a model would be shown an attachment, and stores nothing. */
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

function refuseWithoutRoom(
  all: readonly AttachmentDetails[],
  details: AttachmentDetails,
): AttachmentRefusal {
  const images = all.filter(isImage).length;
  if (isImage(details) && images >= MAX_IMAGES) {
    return `this conversation holds ${images} images (limit images = ${MAX_IMAGES}). Hand it to a subagent, which begins with none`;
  }
  const bytes = all.reduce((sum, each) => sum + each.bytes, details.bytes);
  return bytes <= MAX_BYTES
    ? null
    : `with it the images and documents of this conversation would have ${bytes} bytes (limit attachment_bytes = ${MAX_BYTES}). Hand it to a subagent, which begins with none`;
}

function listAttachments({ state }: Pick<TaskRun, 'state'>): readonly Attachment[] {
  const { messages, results, queued } = state.conversation;
  const enclosed = queued.flatMap((input) => input.enclosed ?? []);
  const waiting = [...results.values(), ...enclosed].flatMap(({ attachments = [] }) => attachments);
  return [...attachmentsOf(messages), ...waiting];
}
