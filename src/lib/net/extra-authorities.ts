import { readFileSync } from 'node:fs';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

/** Trusts the authorities in a file of certificates (PEM), beside those that are trusted, for connections made from now on. */
export function trustAuthorities(file: string): void {
  const added = readFileSync(file, 'utf8').match(CERTIFICATE) ?? [];
  setDefaultCACertificates([...getCACertificates('default'), ...added]);
}
