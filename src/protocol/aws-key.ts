/** The credentials with which requests to AWS are signed. */
export interface AwsCredentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  /** The token of temporary credentials; null: they are permanent. */
  readonly sessionToken: string | null;
}

/** Writes credentials as one text, since a provider has one key. No part of them contains a colon. */
export function formatAwsKey({
  accessKeyId,
  secretAccessKey,
  sessionToken,
}: AwsCredentials): string {
  return [accessKeyId, secretAccessKey, ...(sessionToken === null ? [] : [sessionToken])].join(':');
}

/** Reads the text that `formatAwsKey` has written. */
export function parseAwsKey(key: string): AwsCredentials {
  const [accessKeyId = '', secretAccessKey = '', sessionToken = null] = key.split(':');
  return { accessKeyId, secretAccessKey, sessionToken };
}
