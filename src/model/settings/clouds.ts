import type { Tier } from '../../protocol/model.ts';

/** The clouds that serve the models of several vendors. */
export const CLOUD_KINDS = ['bedrock', 'vertex', 'azure'] as const;
export type CloudKind = (typeof CLOUD_KINDS)[number];

/** Returns true if a name is that of a cloud. */
export function isCloudKind(name: string): name is CloudKind {
  return CLOUD_KINDS.some((kind) => kind === name);
}

/** The levels of service that a cloud offers at different prices. */
export const SERVICE_TIERS = ['default', 'flex', 'priority'] as const;
export type ServiceTier = (typeof SERVICE_TIERS)[number];

/** The known facts about a cloud. */
interface CloudFacts {
  /** The name of the cloud for people. */
  readonly title: string;
  /** The provider of the bundled catalogue that has the cloud's prices. */
  readonly catalogue: string;
  /** The variables for a key or token of the cloud, in place of its credentials. The first that is set is used. */
  readonly keys: readonly string[];
  /** The variable with which Claude Code chooses the cloud. */
  readonly chosenBy: string;
  /** The variable with which Claude Code leaves the credentials to a gateway. */
  readonly skipsAuth: string;
  /** The model of each tier that is used if none is named. */
  readonly tiers: Readonly<Partial<Record<Tier, string>>>;
}

/** The clouds. Variables: https://code.claude.com/docs/en/env-vars and the documentation of each cloud. */
export const CLOUDS: Readonly<Record<CloudKind, CloudFacts>> = {
  bedrock: {
    title: 'Amazon Bedrock',
    catalogue: 'aws',
    keys: ['AWS_BEARER_TOKEN_BEDROCK'],
    chosenBy: 'CLAUDE_CODE_USE_BEDROCK',
    skipsAuth: 'CLAUDE_CODE_SKIP_BEDROCK_AUTH',
    // The global inference profiles can be called from every commercial region.
    tiers: {
      fast: 'global.anthropic.claude-haiku-4-5-20251001-v1:0',
      balanced: 'global.anthropic.claude-sonnet-5',
      powerful: 'global.anthropic.claude-opus-5-5',
    },
  },
  vertex: {
    title: 'Google Vertex AI',
    catalogue: 'google',
    keys: [],
    chosenBy: 'CLAUDE_CODE_USE_VERTEX',
    skipsAuth: 'CLAUDE_CODE_SKIP_VERTEX_AUTH',
    tiers: {
      fast: 'gemini-3.5-flash-lite',
      balanced: 'gemini-3.8-flash',
      powerful: 'gemini-4-argon',
    },
  },
  azure: {
    title: 'Azure',
    catalogue: 'azure',
    keys: ['ANTHROPIC_FOUNDRY_API_KEY', 'AZURE_OPENAI_API_KEY', 'AZURE_API_KEY'],
    chosenBy: 'CLAUDE_CODE_USE_FOUNDRY',
    skipsAuth: 'CLAUDE_CODE_SKIP_FOUNDRY_AUTH',
    // A deployment can have any name, so that none is known.
    tiers: {},
  },
};

/** The models of the tiers for a cloud that Claude Code's variables choose: Claude's under the ids of the cloud. */
export const CLAUDE_TIERS: Readonly<Record<CloudKind, Readonly<Record<Tier, string>>>> = {
  bedrock: {
    fast: 'global.anthropic.claude-haiku-4-5-20251001-v1:0',
    balanced: 'global.anthropic.claude-sonnet-5',
    powerful: 'global.anthropic.claude-opus-5-5',
  },
  vertex: {
    fast: 'claude-haiku-4-5@20251001',
    balanced: 'claude-sonnet-5',
    powerful: 'claude-opus-5-5',
  },
  azure: { fast: 'claude-haiku-4-5', balanced: 'claude-sonnet-5', powerful: 'claude-opus-5-5' },
};
