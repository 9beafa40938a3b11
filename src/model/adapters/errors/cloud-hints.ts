import { isJsonObject } from '../../../base/json.ts';
import type { CloudAccess } from '../../providers/cloud-route.ts';
import type { CloudKind } from '../../settings/clouds.ts';
import type { HttpStatusError } from './answer-errors.ts';

/** The advice for each error of a cloud that a person can do something about. The first pattern that matches counts. */
type Hints = readonly (readonly [error: RegExp, advice: string])[];

const HINTS: Readonly<Record<CloudKind, Hints>> = {
  // https://docs.aws.amazon.com/bedrock/latest/userguide/troubleshooting-api-error-codes.html
  bedrock: [
    [
      /ExpiredToken|security token included in the request is expired/i,
      'the credentials have expired: run "aws sso login", or renew them',
    ],
    [
      /UnrecognizedClient|InvalidClientTokenId|security token included in the request is invalid/i,
      'AWS does not know these credentials: check them with "aws sts get-caller-identity"',
    ],
    [/signature expired|not yet current/i, 'the clock of this machine is wrong'],
    [/InvalidSignature|signature we calculated/i, 'the secret access key is wrong'],
    [
      /on-demand throughput isn.t supported/i,
      'name an inference profile: the same id after a region, such as us. or eu. or global.',
    ],
    [
      /model identifier is invalid|Could not resolve the foundation model|ResourceNotFound/i,
      'the region {region} may not have this model: "aws bedrock list-inference-profiles" lists what it has',
    ],
    [
      /don.t have access to the model|model access is denied|use case details/i,
      'request access to the model in the console of Bedrock, in the region {region}',
    ],
    [
      /AccessDenied|is not authorized to perform/i,
      'allow bedrock:InvokeModel and bedrock:InvokeModelWithResponseStream for this identity',
    ],
    [/too many tokens per day/i, 'the quota of the day is used up: use another region or model'],
  ],
  vertex: [
    [
      /SERVICE_DISABLED|has not been used in project|it is disabled/i,
      'enable the API: gcloud services enable aiplatform.googleapis.com',
    ],
    [
      /requires a quota project/i,
      'run "gcloud auth application-default set-quota-project PROJECT", and set GOOGLE_CLOUD_QUOTA_PROJECT',
    ],
    [
      /PERMISSION_DENIED|aiplatform\.endpoints\.predict|permission/i,
      'grant this identity the role "Vertex AI User" (roles/aiplatform.user) in the project',
    ],
    [
      /UNAUTHENTICATED|invalid authentication credentials/i,
      'run "gcloud auth application-default login"',
    ],
    [
      /Publisher Model|was not found|NOT_FOUND/i,
      'the region {region} may not have this model, or it must be enabled in the Model Garden: set region in the provider',
    ],
  ],
  azure: [
    [
      /DeploymentNotFound|unknown_model|deployment .{0,80}does not exist/i,
      'the id of the model must be the name of a deployment of the resource, or set deployment in the provider',
    ],
    [
      /PermissionDenied|lacks the required data action/i,
      'grant this identity the role "Foundry User" or "Cognitive Services OpenAI User" for the resource',
    ],
    [
      /invalid subscription key|wrong API endpoint|Access denied|Unauthorized|401/i,
      'check the key and the resource, or run "az login"',
    ],
  ],
};

/** Returns the advice for an error of a cloud; empty: the message of the cloud is enough. `text`: what the error says. */
export function findCloudHint({ kind, region }: CloudAccess, text: string): string {
  const advice = HINTS[kind].find(([error]) => error.test(text))?.[1] ?? '';
  return advice.replace('{region}', region ?? 'of the provider');
}

/**
 * Returns the body of an error with its type, which AWS sends in a header and not in the body, such as
 * `ExpiredTokenException`.
 */
export function addErrorType({ headers, responseBody }: HttpStatusError): string {
  const [type = ''] = (headers['x-amzn-errortype'] ?? '').split(/[:;]/, 1);
  if (type === '') return responseBody;
  try {
    const body: unknown = JSON.parse(responseBody);
    return isJsonObject(body) ? JSON.stringify({ ...body, type }) : responseBody;
  } catch {
    // A page of a proxy or an empty body stays as it is.
    return responseBody.trim() === '' ? JSON.stringify({ message: type, type }) : responseBody;
  }
}

/** Matches an error that says that credentials have ended or are unknown, for which AWS uses the status of a missing right. */
const REFUSED_CREDENTIALS =
  /ExpiredToken|UnrecognizedClient|InvalidClientTokenId|security token included in the request is (?:expired|invalid)/i;

/** Returns true if AWS has refused credentials, so that reading them again may help. */
export function isRefusalOfCredentials(thrown: HttpStatusError): boolean {
  return REFUSED_CREDENTIALS.test(addErrorType(thrown));
}
