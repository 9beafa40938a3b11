import { createHash, createHmac } from 'node:crypto';
import { SignatureV4 } from '@smithy/signature-v4';
import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { signRequest } from '../../../src/model/adapters/bedrock/sign-request.ts';
import { formatAwsKey, parseAwsKey } from '../../../src/protocol/aws-key.ts';

/** The credentials, time and scope of AWS's published test suite of Signature Version 4. */
const ID = 'AKIDEXAMPLE';
const SECRET = 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY';
const DATETIME = '20150830T123600Z';
const SUITE = { region: 'us-east-1', service: 'service', datetime: DATETIME };
const PERMANENT = formatAwsKey({ accessKeyId: ID, secretAccessKey: SECRET, sessionToken: null });
const TOKEN =
  'AQoDYXdzEPT//////////wEXAMPLEtc764bNrC9SAPBSM22wDOk4x4HIZ8j4FZTwdQWLWsKWHGBuFqwAeMicRXmxfpSPfIeoIYRqTflfKD8YUuwthAx7mSEI/qkPpKPi/kMcGdQrmGdeehM4IC1NtBmUpp2wUE8phUZampKsburEDy0KPkyQDYwT7WZ0wq5VSXDvp75YU9HFvlRd8Tx6q6fE8YQcHNVXAkiY9q6d+xo0rKwT38xVqr7ZD0u0iPPkUL64lIZbqBAz+scqKmlzm8FDrypNC9Yjc8fPOLn9FX9KSYvKTr4rvx3iSIlTJabIQwj2ICCR/oLxBA==';

it.each([
  [
    'get-vanilla',
    'GET',
    '/',
    '',
    '5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31',
  ],
  [
    'get-vanilla-query-order-key-case',
    'GET',
    '/?Param2=value2&Param1=value1',
    '',
    'b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500',
  ],
  [
    'post-vanilla',
    'POST',
    '/',
    '',
    '5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b',
  ],
])("signs the request %s of AWS's test suite", async (_name, method, path, body, signature) => {
  const url = `https://example.amazonaws.com${path}`;
  expect(await signRequest({ method, url, headers: {}, body }, PERMANENT, SUITE)).toEqual({
    'x-amz-date': DATETIME,
    authorization: `AWS4-HMAC-SHA256 Credential=${ID}/20150830/us-east-1/service/aws4_request, SignedHeaders=host;x-amz-date, Signature=${signature}`,
  });
});

it('signs a session token, and leaves the headers that a proxy may change unsigned', async () => {
  const key = formatAwsKey({ accessKeyId: ID, secretAccessKey: SECRET, sessionToken: TOKEN });
  const headers = {
    accept: '*/*',
    'user-agent': 'muster/1',
    'x-amzn-bedrock-service-tier': 'flex',
  };
  const url = 'https://example.amazonaws.com/';
  const signed = await signRequest({ method: 'POST', url, headers, body: '' }, key, SUITE);
  expect(signed['x-amz-security-token']).toBe(TOKEN);
  expect(signed['authorization']).toContain(
    'SignedHeaders=host;x-amz-date;x-amz-security-token;x-amzn-bedrock-service-tier,',
  );
});

it("signs requests to Bedrock as AWS's own library does", async () => {
  const text = fc.string({ unit: 'grapheme', maxLength: 40 });
  const base64 = fc.stringMatching(/^[A-Za-z0-9+/]{8,40}$/);
  const model = fc.constantFrom(
    'anthropic.claude-sonnet-5',
    'us.anthropic.claude-haiku-4-5-20251001-v1:0',
    'arn:aws:bedrock:us-east-1:123456789012:application-inference-profile/a1b2c3',
    "Größe 1/2*!'()~",
  );
  const check = async (id: string, body: string, secretAccessKey: string, token: string | null) => {
    const path = `/model/${encodeURIComponent(id)}/converse-stream`;
    const hostname = 'bedrock-runtime.eu-central-1.amazonaws.com';
    const key = formatAwsKey({ accessKeyId: ID, secretAccessKey, sessionToken: token });
    const ours = await signRequest(
      { method: 'POST', url: `https://${hostname}${path}`, headers: {}, body },
      key,
      { region: 'eu-central-1', datetime: DATETIME },
    );
    const signer = new SignatureV4({
      credentials: {
        accessKeyId: ID,
        secretAccessKey,
        ...(token !== null && { sessionToken: token }),
      },
      region: 'eu-central-1',
      service: 'bedrock',
      sha256: Sha256,
      applyChecksum: false,
    });
    const request = {
      protocol: 'https:',
      method: 'POST',
      hostname,
      path,
      body,
      headers: { host: hostname },
    };
    const theirs = await signer.sign(request, { signingDate: new Date('2015-08-30T12:36:00Z') });
    const { host: _host, ...expected } = theirs.headers;
    expect(ours).toEqual(expected);
  };
  await fc.assert(fc.asyncProperty(model, text, base64, fc.option(base64), check), { numRuns: 50 });
});

it('writes and reads credentials as one text', () => {
  const part = fc.stringMatching(/^[A-Za-z0-9+/=]{1,60}$/);
  const credentials = fc.record({
    accessKeyId: part,
    secretAccessKey: part,
    sessionToken: fc.option(part),
  });
  fc.assert(
    fc.property(credentials, (written) => {
      expect(parseAwsKey(formatAwsKey(written))).toEqual(written);
    }),
  );
});

/** The hash for AWS's own library. */
class Sha256 {
  private readonly hash: ReturnType<typeof createHash> | ReturnType<typeof createHmac>;

  constructor(secret?: string | ArrayBuffer | ArrayBufferView) {
    this.hash =
      secret === undefined
        ? createHash('sha256')
        : createHmac('sha256', typeof secret === 'string' ? secret : toBytes(secret));
  }

  update(data: string | ArrayBuffer | ArrayBufferView): void {
    this.hash.update(typeof data === 'string' ? data : toBytes(data));
  }

  digest(): Promise<Uint8Array> {
    return Promise.resolve(new Uint8Array(this.hash.digest()));
  }
}

function toBytes(data: ArrayBuffer | ArrayBufferView): Uint8Array {
  if (data instanceof ArrayBuffer) return new Uint8Array(data);
  return new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
}
