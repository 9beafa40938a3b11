import {
  ATTACHMENT_TYPES,
  isImage,
  type AttachmentDetails,
  type AttachmentRules,
  type AttachmentType,
} from '../protocol/attachment.ts';
import { attachmentTokens, type AttachmentCount } from './attachment-tokens.ts';
import type { AttachmentKind } from './overrides.ts';
import type { ConfiguredProvider } from './providers.ts';

type Types = readonly AttachmentType[];

const NONE: Types = [];
const IMAGES: Types = ATTACHMENT_TYPES.filter((type) => isImage({ type }));
/** Google's models take no GIF. */
const STILL_IMAGES: Types = IMAGES.filter((type) => type !== 'image/gif');

interface Family {
  /** What ids of its models begin with or hold, without a vendor before a slash. */
  readonly ids: RegExp;
  /** The first that fits an id. */
  readonly takes: readonly (readonly [RegExp, Types])[];
  readonly count: AttachmentCount;
}

/**
 * What models take beside text, by their ids: the bundled catalogue does not say it. From the vendors' own
 * lists of models, looked up 2026-11-22: https://platform.claude.com/docs/en/build-with-claude/vision and
 * …/pdf-support; https://developers.openai.com/api/docs/models and …/guides/pdf-files;
 * https://ai.google.dev/gemini-api/docs/models.
 */
const FAMILIES: readonly Family[] = [
  {
    ids: /claude-/,
    takes: [
      [/claude-(instant|v?[12]\b)/, NONE],
      [/claude-3-(opus|sonnet|haiku)/, IMAGES],
      [/./, ATTACHMENT_TYPES],
    ],
    count: 'anthropic',
  },
  {
    ids: /^(gpt-|chatgpt-|codex-|o\d)/,
    takes: [
      [/audio|realtime|transcribe|tts|search|^gpt-oss|^gpt-3|^o1-(mini|preview)|^o3-mini/, NONE],
      [/^gpt-4(-0\d{3}|-32k.*|-\d{4}-preview)?$/, NONE],
      [/^(gpt-4-|codex-)/, IMAGES],
      [/./, ATTACHMENT_TYPES],
    ],
    count: 'openai',
  },
  {
    ids: /^gemini-/,
    takes: [
      [/tts|embedding/, NONE],
      [/./, [...STILL_IMAGES, 'application/pdf']],
    ],
    count: 'google',
  },
  // Open models, whoever serves them.
  {
    ids: /-?vl\b|vision|llava|pixtral|minicpm-v|moondream|gemma-?[3-9]/,
    takes: [[/./, STILL_IMAGES]],
    count: 'openai',
  },
];

export interface AttachmentModel {
  /** `provider/id`. */
  readonly name: string;
  readonly id: string;
  readonly protocol: ConfiguredProvider['protocol'];
  /** What the configuration says that it takes; absent: nothing. */
  readonly configured?: readonly AttachmentKind[] | undefined;
}

/** What a model takes of images and documents; one that nobody knows takes none. */
export function attachmentRules(model: AttachmentModel): AttachmentRules {
  const id = model.id.slice(model.id.lastIndexOf('/') + 1).toLowerCase();
  const family = FAMILIES.find(({ ids }) => ids.test(id));
  const types = model.configured === undefined ? knownTypes(model, id) : configuredTypes(model);
  const count = family?.count === 'google' && /^gemini-[3-9]/.test(id) ? 'gemini-3' : family?.count;
  return {
    refusal: (facts) => refusal(facts, model, types),
    tokens: (facts) => attachmentTokens(count ?? 'openai', facts),
  };
}

function knownTypes({ protocol }: AttachmentModel, id: string): Types {
  const family = FAMILIES.find(({ ids }) => ids.test(id));
  const types = family?.takes.find(([ids]) => ids.test(id))?.[1] ?? NONE;
  // What imitates OpenAI's older protocol agrees about images alone.
  return protocol === 'openai-chat' ? types.filter((type) => isImage({ type })) : types;
}

function configuredTypes({ configured = [], protocol }: AttachmentModel): Types {
  const images = protocol === 'google' ? STILL_IMAGES : IMAGES;
  return [
    ...(configured.includes('image') ? images : []),
    ...(configured.includes('pdf') ? (['application/pdf'] as const) : []),
  ];
}

function refusal(
  facts: AttachmentDetails,
  { name, protocol }: AttachmentModel,
  types: Types,
): string | null {
  const { type, frames = 1 } = facts;
  if (!isImage(facts)) return types.includes(type) ? null : `${name} takes no PDF documents`;
  if (!types.some((one) => isImage({ type: one }))) return `${name} takes no images`;
  const isOpenai = protocol === 'openai-responses' || protocol === 'openai-chat';
  if (types.includes(type) && !(isOpenai && type === 'image/gif' && frames > 1)) return null;
  const what = type === 'image/gif' ? (isOpenai ? 'GIF images that move' : 'GIF images') : type;
  return `${name} takes no ${what}. Make a PNG of it first`;
}
