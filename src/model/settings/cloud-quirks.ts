import type { CloudKind } from './clouds.ts';
import type { ProviderQuirks } from './provider-quirks.ts';

/** The meaning of the errors of the clouds that their HTTP status does not tell, or tells wrongly. */
export const CLOUD_QUIRKS: Readonly<Record<CloudKind, ProviderQuirks>> = {
  // https://docs.aws.amazon.com/bedrock/latest/userguide/troubleshooting-api-error-codes.html
  bedrock: {
    errors: [
      {
        text: /\b(?:ExpiredToken|UnrecognizedClient|InvalidSignature|IncompleteSignature|InvalidClientTokenId|MissingAuthenticationToken)|security token included in the request is (?:expired|invalid)|signature (?:we calculated|expired|not yet current)/i,
        kind: 'auth',
        isTransient: false,
      },
      { text: /too many tokens per day/i, kind: 'rate_limit', isTransient: false },
      {
        text: /\bThrottlingException|\bServiceQuotaExceeded|\bModelNotReady|too many (?:tokens|requests|connections)/i,
        kind: 'rate_limit',
        isTransient: true,
      },
      {
        text: /\bmodel(?:Stream)?Error(?:Exception)?\b|\bModelTimeout/i,
        kind: 'server',
        isTransient: true,
      },
      {
        text: /on-demand throughput isn.t supported|model identifier is invalid|end of its life/i,
        kind: 'not_found',
        isTransient: false,
      },
    ],
  },
  vertex: {
    errors: [
      // A project without any quota for the model gets the status of a rate limit.
      { text: /limit:? 0\b|quota_limit_value\W+0\b/i, kind: 'rate_limit', isTransient: false },
    ],
  },
  azure: {
    errors: [
      { text: /\bDeploymentNotFound\b|\bunknown_model\b/i, kind: 'not_found', isTransient: false },
      {
        text: /\bPermissionDenied\b|lacks the required data action/i,
        kind: 'auth',
        isTransient: false,
      },
    ],
  },
};
