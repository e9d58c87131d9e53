const MIN_WAIT_MS = 1000;
const MAX_WAIT_MS = 15 * 60 * 1000;
const SECONDS = /^\d+$/;
const HTTP_DATE = /^[A-Z][a-z]{2,8}, \d{2}[ -][A-Z][a-z]{2}[ -]\d{2,4} \d{2}:\d{2}:\d{2} GMT$/;

/**
 * How long a server asks us to wait by its Retry-After header, in milliseconds between a second and a quarter of an hour; the
 * longest of several; null where it makes no sense.
 */
export function retryAfterMs(header: string | readonly string[] | undefined, now: Date): number | null {
  const values = typeof header === 'string' ? [header] : (header ?? []);
  const waits = values
    .map((value) => value.trim())
    .map((value) => {
      if (SECONDS.test(value)) return Number(value) * 1000;
      return HTTP_DATE.test(value) ? Date.parse(value) - now.getTime() : NaN;
    })
    .filter((waitMs) => !Number.isNaN(waitMs));
  return waits.length === 0 ? null : Math.min(Math.max(...waits, MIN_WAIT_MS), MAX_WAIT_MS);
}
