/**
 * Parses a URL; null if it is none.
 *
 * Not by `URL.canParse`: Node 20, once it has optimized the call, refuses every URL with a letter such as `ü`.
 */
export function parseUrl(text: string): URL | null {
  try {
    return new URL(text);
  } catch {
    return null; // The constructor has no other fault.
  }
}
