/**
 * The shell lines that a page asks its reader to type: one block of them.
 *
 * @param heading The heading they stand under, as it is written.
 * @param nth Which of the blocks below it, from 0.
 */
export function shellLines(page: string, heading: string, nth: number): string {
  const below = page.split(/^(?=#+ )/m).find((part) => part.startsWith(`${heading}\n`));
  const block = [...(below ?? '').matchAll(/^```sh\n(.*?)^```$/gms)][nth]?.[1];
  if (block === undefined) throw new Error(`Below “${heading}” there is no block ${nth} of lines to type.`);
  return block;
}
