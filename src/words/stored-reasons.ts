import { fieldLabel, kindLabel } from '../catalog/descriptions.ts';
import refusals from '../lib/text/locales/fr-refusals.json' with { type: 'json' };
import type { Translator } from '../lib/text/translator.ts';

/** The texts that are stored or thrown as English sentences, with their values in braces: first those of other texts, then the longest. */
const REFUSALS = Object.entries(refusals)
  .sort(([a], [b]) => Number(b.includes('{fault')) - Number(a.includes('{fault')) || b.length - a.length)
  .map(([en, fr]) => {
    const source = en.replaceAll(/[$()*+?.[\\\]^|]/g, String.raw`\$&`).replaceAll(/\{(\w+)\}/g, '(?<$1>.*?)');
    return { en, fr, pattern: new RegExp(`^${source}$`, 's') };
  });

/** Translates a text that is stored or thrown in English, with labels of kinds and fields; returns it unchanged if it is not known. */
export const translateReason = (text: string, translator: Translator): string =>
  translateKnown(text, translator) ?? translator.term(text);

/** A pattern with several values takes long for a text of any length, which may quote what a stranger has sent. */
const LONGEST = 2_000;

/** Of a text with an unknown `fault`, which is another text, nothing is translated. */
function translateKnown(text: string, translator: Translator): string | undefined {
  if (text.length > LONGEST) return undefined;
  for (const { pattern, ...texts } of REFUSALS) {
    const found = pattern.exec(text);
    if (found === null) continue;
    const entries = Object.entries(found.groups ?? {});
    const values = new Map(entries.map(([name, value]) => [name, shown(name, value, translator)]));
    if (![...values.values()].includes(undefined))
      return texts[translator.language].replaceAll(/\{(\w+)\}/g, (_, name: string) => values.get(name) ?? '');
  }
  return undefined;
}

function shown(name: string, value: string, translator: Translator): string | undefined {
  const each = (labelOf: (part: string) => string): string => value.split(', ').map(labelOf).join(', ');
  if (name.startsWith('kind')) return each((kind) => kindLabel(translator, kind));
  if (name.startsWith('field')) return each((field) => fieldLabel(translator, '', field));
  if (name.startsWith('fault')) return translateKnown(value, translator);
  return name.startsWith('word') ? translateReason(value, translator) : value;
}
