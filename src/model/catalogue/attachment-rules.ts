import {
  ATTACHMENT_TYPES,
  type AttachmentDetails,
  type AttachmentRules,
  type AttachmentType,
  isImage,
} from '../../protocol/attachment.ts';
import type { AttachmentKind } from './model-overrides.ts';
import type { ConfiguredProvider } from '../providers/providers.ts';

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
  readonly count: TokenFormula;
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
export function createAttachmentRules(model: AttachmentModel): AttachmentRules {
  const id = model.id.slice(model.id.lastIndexOf('/') + 1).toLowerCase();
  const family = FAMILIES.find(({ ids }) => ids.test(id));
  const types = model.configured === undefined ? knownTypes(model, id) : configuredTypes(model);
  const count = family?.count === 'google' && /^gemini-[3-9]/.test(id) ? 'gemini-3' : family?.count;
  return {
    refusal: (facts) => refusal(facts, model, types),
    tokens: (facts) => estimateAttachmentTokens(count ?? 'openai', facts),
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

/** Whose way of counting images and documents it is. */
export type TokenFormula = 'anthropic' | 'openai' | 'google' | 'gemini-3';

/** Where the vendors say so, and the day they were looked up: 2026-11-22. They are rules of thumb. */
const COUNTS: Readonly<Record<TokenFormula, (facts: Sized) => number>> = {
  // https://platform.claude.com/docs/en/build-with-claude/vision: pixels / 750, scaled down to about 1600
  // tokens; …/pdf-support: 1500 to 3000 a page for its text, and an image of it.
  anthropic: ({ pages, width, height }) =>
    pages === null ? Math.min((width * height) / 750, 1600) : pages * 3000,
  // https://developers.openai.com/api/docs/guides/images-vision: tiles; …/pdf-files: a page is its text
  // and an image.
  openai: ({ pages, width, height }) =>
    pages === null ? 85 + 170 * openaiTiles(width, height) : pages * 1500,
  // https://ai.google.dev/gemini-api/docs/tokens: 258 a tile, a page as an image.
  google: ({ pages, width, height }) => 258 * (pages ?? googleTiles(width, height)),
  // https://docs.cloud.google.com/vertex-ai/docs/generative-ai/image/image-captioning: the default
  // resolution takes so many, whatever the size; a page half of it.
  'gemini-3': ({ pages }) => (pages === null ? 1120 : pages * 560),
};

interface Sized {
  /** Null: it is an image. */
  readonly pages: number | null;
  readonly width: number;
  readonly height: number;
}

/** Of a document that does not say how many it has. */
const BYTES_A_PAGE = 50_000;

/** What an image or a document takes in a request, estimated. */
export function estimateAttachmentTokens(count: TokenFormula, facts: AttachmentDetails): number {
  const { type, bytes, width = 1, height = 1 } = facts;
  const pages = facts.pages ?? Math.max(1, Math.ceil(bytes / BYTES_A_PAGE));
  const sized = { pages: type === 'application/pdf' ? pages : null, width, height };
  return Math.ceil(COUNTS[count](sized));
}

/** Scaled into 2048 × 2048, then its shorter side to 768, it is laid out with tiles of 512. */
function openaiTiles(width: number, height: number): number {
  const fit = Math.min(1, 2048 / Math.max(width, height));
  const scale = fit * Math.min(1, 768 / (Math.min(width, height) * fit));
  return Math.ceil((width * scale) / 512) * Math.ceil((height * scale) / 512);
}

/** A small one is one; else tiles of two thirds of its shorter side, from 256 to 768. */
function googleTiles(width: number, height: number): number {
  if (width <= 384 && height <= 384) return 1;
  const unit = Math.min(768, Math.max(256, Math.floor(Math.min(width, height) / 1.5)));
  return Math.ceil(width / unit) * Math.ceil(height / unit);
}
