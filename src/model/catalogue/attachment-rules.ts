import {
  ATTACHMENT_TYPES,
  type AttachmentDetails,
  type AttachmentRules,
  type AttachmentType,
  isImage,
} from '../../protocol/attachment.ts';
import type { AttachmentKind } from '../settings/model-settings.ts';
import type { ConfiguredProvider } from '../providers/configured-provider.ts';

type AttachmentTypes = readonly AttachmentType[];

const NONE: AttachmentTypes = [];
const IMAGES: AttachmentTypes = ATTACHMENT_TYPES.filter((type) => isImage({ type }));
/** Google's models accept no GIF. */
const STILL_IMAGES: AttachmentTypes = IMAGES.filter((type) => type !== 'image/gif');

interface ModelFamily {
  /** Matches the ids of its models, without the vendor before a slash. */
  readonly ids: RegExp;
  /** The accepted types by id. The first pattern that matches counts. */
  readonly accepts: readonly (readonly [RegExp, AttachmentTypes])[];
  readonly formula: TokenFormula;
}

/**
 * The attachments that models accept, by their ids. The bundled catalogue does not contain this. Source: the
 * vendors' own lists of models, looked up on 2026-11-22: https://platform.claude.com/docs/en/build-with-claude/vision and
 * …/pdf-support; https://developers.openai.com/api/docs/models and …/guides/pdf-files;
 * https://ai.google.dev/gemini-api/docs/models.
 */
const FAMILIES: readonly ModelFamily[] = [
  {
    ids: /claude-/,
    accepts: [
      [/claude-(instant|v?[12]\b)/, NONE],
      [/claude-3-(opus|sonnet|haiku)/, IMAGES],
      [/./, ATTACHMENT_TYPES],
    ],
    formula: 'anthropic',
  },
  {
    ids: /^(gpt-|chatgpt-|codex-|o\d)/,
    accepts: [
      [/audio|realtime|transcribe|tts|search|^gpt-oss|^gpt-3|^o1-(mini|preview)|^o3-mini/, NONE],
      [/^gpt-4(-0\d{3}|-32k.*|-\d{4}-preview)?$/, NONE],
      [/^(gpt-4-|codex-)/, IMAGES],
      [/./, ATTACHMENT_TYPES],
    ],
    formula: 'openai',
  },
  {
    ids: /^gemini-/,
    accepts: [
      [/tts|embedding/, NONE],
      [/./, [...STILL_IMAGES, 'application/pdf']],
    ],
    formula: 'google',
  },
  // Open models of any provider.
  {
    ids: /-?vl\b|vision|llava|pixtral|minicpm-v|moondream|gemma-?[3-9]/,
    accepts: [[/./, STILL_IMAGES]],
    formula: 'openai',
  },
];

/** The properties of a model that decide which attachments it accepts. */
export interface AttachmentModel {
  /** `provider/id`. */
  readonly name: string;
  readonly id: string;
  readonly protocol: ConfiguredProvider['protocol'];
  /** The kinds of attachments that the configuration lists for it. Default: the configuration does not say. */
  readonly configured?: readonly AttachmentKind[] | undefined;
}

/** Returns the kinds of attachments that a model accepts by its id; null: its family is not known. */
export function findKnownAttachments(id: string): readonly AttachmentKind[] | null {
  const types = findFamilyTypes(stripVendor(id));
  if (types === null) return null;
  return [
    ...(types.some((type) => isImage({ type })) ? (['image'] as const) : []),
    ...(types.includes('application/pdf') ? (['pdf'] as const) : []),
  ];
}

/** Returns the rules for images and documents of a model. An unknown model accepts none. */
export function createAttachmentRules(model: AttachmentModel): AttachmentRules {
  const id = stripVendor(model.id);
  const family = FAMILIES.find(({ ids }) => ids.test(id));
  const types = model.configured === undefined ? knownTypes(model, id) : configuredTypes(model);
  const formula =
    family?.formula === 'google' && /^gemini-[3-9]/.test(id) ? 'gemini-3' : family?.formula;
  return {
    refusal: (details) => explainRefusal(details, model, types),
    tokens: (details) => estimateAttachmentTokens(formula ?? 'openai', details),
  };
}

function knownTypes({ protocol }: AttachmentModel, id: string): AttachmentTypes {
  const types = findFamilyTypes(id) ?? NONE;
  // Servers that imitate OpenAI's older protocol agree only about images.
  return protocol === 'openai-chat' ? types.filter((type) => isImage({ type })) : types;
}

/** Returns the types that the family of a model accepts; null: the family is not known. */
function findFamilyTypes(id: string): AttachmentTypes | null {
  const family = FAMILIES.find(({ ids }) => ids.test(id));
  return family?.accepts.find(([ids]) => ids.test(id))?.[1] ?? null;
}

function stripVendor(id: string): string {
  return id.slice(id.lastIndexOf('/') + 1).toLowerCase();
}

function configuredTypes({ configured = [], protocol }: AttachmentModel): AttachmentTypes {
  const images = protocol === 'google' ? STILL_IMAGES : IMAGES;
  return [
    ...(configured.includes('image') ? images : []),
    ...(configured.includes('pdf') ? (['application/pdf'] as const) : []),
  ];
}

function explainRefusal(
  details: AttachmentDetails,
  { name, protocol }: AttachmentModel,
  types: AttachmentTypes,
): string | null {
  const { type, frames = 1 } = details;
  if (!isImage(details)) return types.includes(type) ? null : `${name} accepts no PDF documents`;
  if (!types.some((one) => isImage({ type: one }))) return `${name} accepts no images`;
  const isOpenai = protocol === 'openai-responses' || protocol === 'openai-chat';
  if (types.includes(type) && !(isOpenai && type === 'image/gif' && frames > 1)) return null;
  const kind = type === 'image/gif' ? (isOpenai ? 'animated GIF images' : 'GIF images') : type;
  return `${name} accepts no ${kind}. Convert it to PNG first`;
}

/** The vendor by whose formula the tokens of images and documents are estimated. */
export type TokenFormula = 'anthropic' | 'openai' | 'google' | 'gemini-3';

/** The formulas of the vendors' documentation, looked up on 2026-11-22. They are rules of thumb. */
const FORMULAS: Readonly<Record<TokenFormula, (size: AttachmentSize) => number>> = {
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
  // https://docs.cloud.google.com/vertex-ai/docs/generative-ai/image/image-captioning: an image of any size
  // takes the same number at the default resolution, and a page half of it.
  'gemini-3': ({ pages }) => (pages === null ? 1120 : pages * 560),
};

interface AttachmentSize {
  /** Number of pages; null: it is an image. */
  readonly pages: number | null;
  readonly width: number;
  readonly height: number;
}

/** The size of a page, to estimate the number of pages of a document that does not state it. */
const BYTES_A_PAGE = 50_000;

/** Estimates the tokens of an image or a document in a request. */
export function estimateAttachmentTokens(
  formula: TokenFormula,
  details: AttachmentDetails,
): number {
  const { type, bytes, width = 1, height = 1 } = details;
  const pages = details.pages ?? Math.max(1, Math.ceil(bytes / BYTES_A_PAGE));
  const sized = { pages: type === 'application/pdf' ? pages : null, width, height };
  return Math.ceil(FORMULAS[formula](sized));
}

/** Counts tiles of 512 pixels after scaling an image into 2048 × 2048 and then its shorter side to 768. */
function openaiTiles(width: number, height: number): number {
  const fit = Math.min(1, 2048 / Math.max(width, height));
  const scale = fit * Math.min(1, 768 / (Math.min(width, height) * fit));
  return Math.ceil((width * scale) / 512) * Math.ceil((height * scale) / 512);
}

/** Counts tiles of two thirds of the shorter side of an image, from 256 to 768 pixels. A small image is one tile. */
function googleTiles(width: number, height: number): number {
  if (width <= 384 && height <= 384) return 1;
  const unit = Math.min(768, Math.max(256, Math.floor(Math.min(width, height) / 1.5)));
  return Math.ceil(width / unit) * Math.ceil(height / unit);
}
