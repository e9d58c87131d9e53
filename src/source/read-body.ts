import type { Readable } from 'node:stream';
import { SourceError } from './errors.ts';

export interface BodyLimits {
  readonly maxBytes: number;
  /** The Content-Length header, where there is one. */
  readonly declared: string | undefined;
  readonly where: string;
}

/**
 * Reads a body to its end, however it is cut up, and never more of it than allowed.
 *
 * @throws {SourceError} too_big
 */
export async function readBody(body: Readable, limits: BodyLimits): Promise<Buffer> {
  const { maxBytes, declared, where } = limits;
  const tooBig = (got: string): SourceError =>
    new SourceError('too_big', `${where}: got ${got} bytes, expected at most ${maxBytes}`);
  if (Number(declared) > maxBytes) {
    const refusal = tooBig(String(declared));
    body.once('error', () => undefined); // The stream repeats what we are about to throw.
    body.destroy(refusal);
    throw refusal;
  }
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of body as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > maxBytes) throw tooBig(`more than ${maxBytes}`); // Leaving the loop closes the connection.
    chunks.push(chunk);
  }
  return Buffer.concat(chunks, size);
}
