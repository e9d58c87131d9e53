/** The ways in which a program may spell a secret when it repeats it: plain, in JSON (PHP writes `\/`), in a URL. */
export function secretForms(secret: string): readonly string[] {
  const inJson = JSON.stringify(secret).slice(1, -1);
  return [...new Set([secret, inJson, inJson.replaceAll('/', '\\/'), encodeURIComponent(secret)])];
}
