const BITS_A_BYTE = 8;
const BITS_A_DIGIT = 6;
/** Where in a group of three bytes a secret can begin. */
const BASE64_OFFSETS = [0, 1, 2];

/** A secret as it is, in base64 (also as part of a longer text), and in URLs. */
export function secretForms(secret: string): readonly string[] {
  return [...new Set([secret, ...base64Forms(secret), ...urlForms(secret)])];
}

/** Only the digits that come from the secret alone: those at its ends hold bits of what is beside it. */
function base64Forms(secret: string): readonly string[] {
  const bytes = Buffer.from(secret, 'utf8');
  return BASE64_OFFSETS.flatMap((offset) => {
    const encoded = Buffer.concat([Buffer.alloc(offset), bytes]).toString('base64');
    const first = Math.ceil((offset * BITS_A_BYTE) / BITS_A_DIGIT);
    const last = Math.floor(((offset + bytes.length) * BITS_A_BYTE) / BITS_A_DIGIT);
    const own = encoded.slice(first, last);
    return [own, own.replaceAll('+', '-').replaceAll('/', '_')];
  });
}

function urlForms(secret: string): readonly string[] {
  // Half a character has no UTF-8, and so no form in a URL.
  if (!secret.isWellFormed()) return [];
  const encoded = encodeURIComponent(secret);
  return [
    encoded,
    encoded.replaceAll(/%[0-9A-F]{2}/g, (byte) => byte.toLowerCase()),
    encoded.replaceAll('%20', '+'),
  ];
}
