import { AwsV4Signer } from 'aws4fetch';
import { parseAwsKey } from '../../../protocol/aws-key.ts';

/** The request to sign. */
interface UnsignedRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** The name of Bedrock in the scope of a signature. */
const BEDROCK = 'bedrock';

/**
 * Returns the headers that sign a request to AWS (Signature Version 4). Only the host and AWS's own headers are signed,
 * so that a proxy may change the others.
 *
 * @param key as `formatAwsKey` writes it
 * @param options.service default: Bedrock
 * @param options.datetime the time of the signature, such as `20150830T123600Z`. Default: now
 */
export async function signRequest(
  { method, url, headers, body }: UnsignedRequest,
  key: string,
  {
    region,
    service = BEDROCK,
    datetime,
  }: { readonly region: string; readonly service?: string; readonly datetime?: string },
): Promise<Readonly<Record<string, string>>> {
  const { accessKeyId, secretAccessKey, sessionToken } = parseAwsKey(key);
  const signer = new AwsV4Signer({
    method,
    url,
    headers: Object.entries(headers).filter(([name]) => name.startsWith('x-amz')),
    body,
    region,
    service,
    accessKeyId,
    secretAccessKey,
    ...(sessionToken !== null && { sessionToken }),
    ...(datetime !== undefined && { datetime }),
  });
  const signed = await signer.sign();
  const result = Object.fromEntries(signed.headers);
  // The client writes the header itself, from the address.
  delete result['host'];
  return result;
}
