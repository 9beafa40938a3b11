import type { CloudKind, ServiceTier } from '../settings/clouds.ts';
import { parseBaseUrl } from './base-url.ts';
import type { CloudRoute } from './cloud-route.ts';

/** The values on which the addresses and credentials of a cloud depend. A missing value was not set. */
export interface CloudDetails {
  readonly baseUrl?: string;
  readonly region?: string;
  readonly project?: string;
  readonly profile?: string;
  readonly resource?: string;
  readonly serviceTier?: ServiceTier;
  /** The project that is charged for the requests of a person's own Google account. */
  readonly quotaProject?: string;
}

/** The addresses of a cloud. */
export interface CloudAddresses {
  readonly routes: readonly CloudRoute[];
  readonly region: string | null;
  /** The reason why the cloud cannot be used; null: nothing is missing. */
  readonly missing: string | null;
}

/** Matches the ids of Anthropic's models on every cloud. */
const CLAUDE = /(?:^|[./])claude-|(?:^|\.)anthropic\./;

/**
 * Finds the addresses at which a cloud serves the models of each vendor. Throws UsageError for an invalid address.
 * `setting`: the table of the provider, for messages; null: the cloud is configured by variables.
 */
export function findCloudAddresses(
  kind: CloudKind,
  details: CloudDetails,
  setting: string | null,
): CloudAddresses {
  const at = (key: string): string => (setting === null ? '' : `${setting}.${key} or `);
  const root =
    details.baseUrl === undefined
      ? null
      : toRoot(
          details.baseUrl,
          setting === null ? `the address of ${kind}` : `${setting}.base_url`,
        );
  switch (kind) {
    case 'bedrock':
      return findBedrock(
        details,
        root,
        `Amazon Bedrock needs a region: set ${at('region')}AWS_REGION`,
      );
    case 'vertex':
      return findVertex(
        details,
        root,
        `Google Vertex AI needs a project: set ${at('project')}GOOGLE_CLOUD_PROJECT`,
      );
    case 'azure':
      return findAzure(
        details,
        root,
        `Azure needs a resource: set ${at('resource')}AZURE_RESOURCE_NAME (for Claude: ANTHROPIC_FOUNDRY_RESOURCE)`,
      );
  }
}

/** Returns an address without a slash at its end. */
function toRoot(baseUrl: string, setting: string): string {
  const { url } = parseBaseUrl(baseUrl, setting);
  return `${url.origin}${url.pathname.replace(/\/$/, '')}`;
}

/** The endings of the hosts of AWS in regions outside of its commercial ones: https://docs.aws.amazon.com/general/latest/gr/rande.html */
const AWS_PARTITIONS: readonly (readonly [region: RegExp, domain: string])[] = [
  [/^cn-/, 'amazonaws.com.cn'],
  [/^eusc-/, 'amazonaws.eu'],
  [/^us-isob-/, 'sc2s.sgov.gov'],
  [/^us-isof-/, 'csp.hci.ic.gov'],
  [/^us-iso-/, 'c2s.ic.gov'],
  [/^eu-isoe-/, 'cloud.adc-e.uk'],
];

/** The region of the addresses that are shown while none is set. */
const SHOWN_REGION = 'REGION';

function findBedrock(
  { region }: CloudDetails,
  root: string | null,
  needsRegion: string,
): CloudAddresses {
  const known = region ?? findAwsRegion(root) ?? null;
  const domain =
    AWS_PARTITIONS.find(([regions]) => regions.test(known ?? ''))?.[1] ?? 'amazonaws.com';
  const baseUrl = root ?? `https://bedrock-runtime.${known ?? SHOWN_REGION}.${domain}`;
  return {
    region: known,
    missing: known === null ? needsRegion : null,
    routes: [
      // An inference profile of one's own does not say whose model it has, and Converse accepts all.
      { models: /(?:^|[./])anthropic\./, protocol: 'anthropic', vendor: 'anthropic', baseUrl },
      { protocol: 'bedrock-converse', vendor: null, baseUrl },
    ],
  };
}

/** Finds the region in an address of AWS; undefined: it names none. */
function findAwsRegion(root: string | null): string | undefined {
  return /\bbedrock-runtime(?:-fips)?\.([a-z]{2}(?:-[a-z]+)+-\d)\./.exec(root ?? '')?.[1];
}

/** The region whose address sends a request to any region of Google. */
const GLOBAL = 'global';

function findVertex(
  { region = GLOBAL, project, quotaProject }: CloudDetails,
  root: string | null,
  needsProject: string,
): CloudAddresses {
  const own = root ?? `https://${findVertexHost(region)}/v1`;
  const base = `${own}/projects/${project ?? 'PROJECT'}/locations/${region}`;
  const headers =
    quotaProject === undefined ? {} : { headers: { 'x-goog-user-project': quotaProject } };
  return {
    region,
    missing: project === undefined ? needsProject : null,
    routes: [
      {
        models: CLAUDE,
        protocol: 'anthropic',
        vendor: 'anthropic',
        baseUrl: `${base}/publishers/anthropic`,
        ...headers,
      },
      {
        protocol: 'google',
        vendor: 'google',
        baseUrl: `${base}/publishers/google`,
        ...headers,
      },
    ],
  };
}

/** Returns the host of a region: https://cloud.google.com/vertex-ai/generative-ai/docs/learn/locations */
function findVertexHost(region: string): string {
  if (region === GLOBAL) return 'aiplatform.googleapis.com';
  if (region === 'us' || region === 'eu') return `aiplatform.${region}.rep.googleapis.com`;
  return `${region}-aiplatform.googleapis.com`;
}

/** The endpoints that people copy together with the address of a resource. */
const AZURE_PATH = /\/(?:openai|anthropic|models|api\/projects\/[^/]+)(?:\/.*)?$/;

function findAzure(
  { resource }: CloudDetails,
  root: string | null,
  needsResource: string,
): CloudAddresses {
  const own = root === null ? null : root.replace(AZURE_PATH, '');
  const name = resource ?? 'RESOURCE';
  const openai = own ?? `https://${name}.openai.azure.com`;
  const foundry = own ?? `https://${name}.services.ai.azure.com`;
  const missing = own === null && resource === undefined ? needsResource : null;
  return {
    region: null,
    missing,
    routes: [
      {
        models: CLAUDE,
        protocol: 'anthropic',
        vendor: 'anthropic',
        baseUrl: `${foundry}/anthropic/v1`,
      },
      {
        // Models of other vendors, which have OpenAI's older protocol only.
        models:
          /^(?:deepseek|grok|llama|meta-llama|mistral|ministral|codestral|cohere|phi|kimi|qwen|mai-)/i,
        protocol: 'openai-chat',
        vendor: null,
        baseUrl: `${foundry}/openai/v1`,
      },
      { protocol: 'openai-responses', vendor: 'openai', baseUrl: `${openai}/openai/v1` },
    ],
  };
}
