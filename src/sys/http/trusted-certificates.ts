import tls from 'node:tls';
import { errorMessage, UsageError } from '../../base/errors.ts';
import { readNamedFile } from '../files/named-file.ts';

const MAX_CERTIFICATE_BYTES = 16 * 1024 * 1024;

/**
 * Adds the certificates of a PEM file to those that this process trusts. Throws a UsageError about `SSL_CERT_FILE`, which
 * names the file.
 */
export async function trustCertificates(file: string): Promise<void> {
  let pem: string;
  try {
    const bytes = await readNamedFile(file, { maxBytes: MAX_CERTIFICATE_BYTES });
    pem = bytes.toString('latin1');
  } catch (thrown) {
    throw new UsageError(`SSL_CERT_FILE cannot be read: ${errorMessage(thrown)}`, {
      cause: thrown,
    });
  }
  const own = pem.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g);
  if (own === null) throw new UsageError(`SSL_CERT_FILE holds no PEM certificate: ${file}`);
  tls.setDefaultCACertificates([...tls.getCACertificates('default'), ...own]);
}
