/** Undoes HTML escaping, once or many times over: for comparing texts, never for showing them. */
export function withoutEntities(text: string): string {
  if (!text.includes('&')) return text;
  // Repeated escaping only multiplies ampersands, so one pass over each of the two patterns is enough.
  return text.replace(AMPERSANDS, '&').replace(ENTITY, (entity, ...[decimal, hex, name]: Groups) => {
    if (name !== undefined) return namedCharacter(name) ?? entity;
    const point = decimal === undefined ? parseInt(hex ?? '', 16) : Number(decimal);
    return point <= LAST_POINT ? String.fromCodePoint(point) : entity;
  });
}

/** Removes the beginning of an entity that was truncated at the end of the text. */
export function withoutTornEntity(text: string): string {
  return text.replace(/&#?[a-z\d]{0,8}$/i, '');
}

type Groups = readonly (string | undefined)[];

const AMPERSANDS = /&(?:(?:amp|#0*38|#x0*26);)+/gi;
const ENTITY = /&(?:#(\d{1,7})|#x([\da-f]{1,6})|([a-z]{2,8}));/gi;
const LAST_POINT = 0x10ffff;
/** `&eacute;` and similar: a letter and its accent. */
const LETTER = /^([a-z])(?:grave|acute|circ|tilde|uml|ring|cedil|slash|caron)$/i;
const LIGATURE = /^(ae|oe|sz)lig$/i;

const CHARACTERS = new Map([
  ['lt', '<'],
  ['gt', '>'],
  ['quot', '"'],
  ['apos', "'"],
  ['nbsp', ' '],
  ['laquo', '«'],
  ['raquo', '»'],
  ['lsquo', '‘'],
  ['rsquo', '’'],
  ['ldquo', '“'],
  ['rdquo', '”'],
  ['ndash', '–'],
  ['mdash', '—'],
  ['hellip', '…'],
  ['deg', '°'],
  ['euro', '€'],
]);

/** The character of a name, in any case and without its accent. */
function namedCharacter(name: string): string | undefined {
  const lower = name.toLowerCase();
  if (lower === 'szlig') return 'ss';
  return CHARACTERS.get(lower) ?? LETTER.exec(lower)?.[1] ?? LIGATURE.exec(lower)?.[1];
}
