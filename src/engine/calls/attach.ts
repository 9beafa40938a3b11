import { hash } from 'node:crypto';
import {
  isImage,
  type Attachment,
  type AttachmentDetails,
  type AttachPort,
  type AttachmentRules,
  type WhyNotShown,
} from '../../protocol/attachment.ts';
import { attachmentsOf } from '../../protocol/message.ts';
import type { ResolvedModel } from '../../protocol/model.ts';
import type { EngineDeps } from '../task/deps.ts';
import type { TaskRun } from '../task/task-run.ts';

/**
 * Of one request. Anthropic refuses images of more than 2000 pixels a side in a request of more than 20
 * (https://platform.claude.com/docs/en/build-with-claude/vision, looked up 2026-11-22).
 */
const MOST_IMAGES = 20;
/**
 * Bytes of one request, a third less than on the wire: Google takes 20 MB
 * (https://firebase.google.com/docs/ai-logic/input-file-requirements), Anthropic 32 MB.
 */
const MOST_BYTES = 14_000_000;

/** The way of images and documents into a task's conversation, for one call. */
export function attachPort(
  deps: Pick<EngineDeps, 'models' | 'store'>,
  run: TaskRun,
  callId: string,
): AttachPort {
  const rules = async () => (await deps.models.attachments?.(run.spec.model)) ?? NOTHING;
  const whyNot = (facts: AttachmentDetails, known: AttachmentRules) =>
    known.refusal(facts) ?? whyNoRoom(run, facts);
  const letIn = async (facts: AttachmentDetails) => {
    const known = await rules();
    // Nothing is awaited from here on: others of its message look at the same time.
    const why = whyNot(facts, known);
    // It counts until the call has its outcome.
    if (why === null) run.attaching.set(callId, [...(run.attaching.get(callId) ?? []), facts]);
    return why;
  };
  return {
    refusal: async (facts) => whyNot(facts, await rules()),
    async add(facts, bytes) {
      const why = await letIn(facts);
      if (why !== null) return why;
      const { tokens } = await rules();
      return { ...facts, tokens: tokens(facts), blob: deps.store.keepAttachment(bytes) };
    },
    addAgain: letIn,
  };
}

/** The same for what goes with a person's words. `others`: what goes along already. */
export function attachPortFor(
  deps: Pick<EngineDeps, 'models' | 'store'>,
  { spec, state }: Pick<TaskRun, 'spec' | 'state'>,
  others: () => readonly Attachment[],
): AttachPort {
  const rules = async () => (await deps.models.attachments?.(spec.model)) ?? NOTHING;
  const refusal = async (facts: AttachmentDetails) =>
    (await rules()).refusal(facts) ??
    noRoomBeside([...attachmentsIn({ state }), ...others()], facts);
  return {
    refusal,
    async add(facts, bytes) {
      const why = await refusal(facts);
      if (why !== null) return why;
      const { tokens } = await rules();
      return { ...facts, tokens: tokens(facts), blob: deps.store.keepAttachment(bytes) };
    },
    addAgain: refusal,
  };
}

/** Says what would be shown to a model, and keeps nothing. */
export function lookingPort(models: EngineDeps['models'], model: ResolvedModel): AttachPort {
  const refusal = async (facts: AttachmentDetails) =>
    ((await models.attachments?.(model)) ?? NOTHING).refusal(facts);
  return {
    refusal,
    add: async (facts, bytes) =>
      (await refusal(facts)) ?? { ...facts, tokens: 0, blob: hash('sha256', bytes) },
    addAgain: refusal,
  };
}

const NOTHING: AttachmentRules = {
  refusal: () => 'nothing is known of what this model takes',
  tokens: () => 0,
};

/** What stands in the conversation is sent again each time, and no server takes more than so much at once. */
function whyNoRoom(run: TaskRun, facts: AttachmentDetails): WhyNotShown {
  return noRoomBeside([...attachmentsIn(run), ...[...run.attaching.values()].flat()], facts);
}

function noRoomBeside(all: readonly AttachmentDetails[], facts: AttachmentDetails): WhyNotShown {
  const images = all.filter(isImage).length;
  if (isImage(facts) && images >= MOST_IMAGES) {
    return `this conversation holds ${images} images (limit images = ${MOST_IMAGES}). Hand it to a subagent, which begins with none`;
  }
  const bytes = all.reduce((sum, each) => sum + each.bytes, facts.bytes);
  return bytes <= MOST_BYTES
    ? null
    : `with it the images and documents of this conversation would have ${bytes} bytes (limit attachment_bytes = ${MOST_BYTES}). Hand it to a subagent, which begins with none`;
}

function attachmentsIn({ state }: Pick<TaskRun, 'state'>): readonly Attachment[] {
  const { messages, results, queued } = state.conversation;
  const enclosed = queued.flatMap((input) => input.enclosed ?? []);
  const waiting = [...results.values(), ...enclosed].flatMap(({ attachments = [] }) => attachments);
  return [...attachmentsOf(messages), ...waiting];
}
